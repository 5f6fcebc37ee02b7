import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const needsTypescript = {
  skip:
    !existsSync(join(PACKAGE, "node_modules", "typescript")) &&
    "npm install --no-save typescript @types/node first",
};

const PROGRAM = `
import * as browser from "netloom";
import * as node from "netloom/node";
const { connect, defineProtocol, field, NetloomError } = browser;
const game = defineProtocol("game", { objects: { Cube: { at: field.position() } } });
if (node.connect !== connect) throw new Error("two copies of one module");
const error = await connect("ftp://nowhere", { protocol: game }).catch((error) => error);
console.log(error instanceof NetloomError, error.code, Object.keys(browser).length);
`;

test(
  "the package installs in an empty folder, with its types, and nothing else comes along",
  needsTypescript,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "netloom-pack-"));
    try {
      await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: PACKAGE });
      const [tarball] = await readdir(folder);
      await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }');
      await run("npm", ["install", "--silent", "--offline", "--no-audit", "--no-fund", `./${tarball}`], {
        cwd: folder,
      });
      const installed = join(folder, "node_modules", "netloom");
      assert.deepEqual(
        (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith(".")),
        ["netloom"],
      );
      assert.deepEqual((await readdir(installed)).sort(), ["README.md", "package.json", "src", "types"]);
      for (const types of ["index.d.ts", "node/index.d.ts"])
        assert.ok(existsSync(join(installed, "types", types)), types);
      await writeFile(join(folder, "program.js"), PROGRAM);
      const { stdout } = await run(process.execPath, ["program.js"], { cwd: folder });
      assert.match(stdout, /^true address \d+$/m);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
