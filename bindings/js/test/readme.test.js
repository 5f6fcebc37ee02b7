import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readmeBlocks, readmePage } from "./readme.js";
import { NETLOOM, addressOf, startServe } from "./servers.js";
import { cubes } from "./tour.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

/** The declaration in the README's page, as a module. */
function declaration() {
  const [code] = readmePage().match(/const colour = .*?\n  \}\);\n/s) ?? [];
  assert.ok(code, "the page declares its protocol");
  return `import { defineProtocol, field } from "netloom";\n${code}\nexport { cubes };\n`;
}

/** A folder in which the package is installed. */
async function folder() {
  const path = await mkdtemp(join(tmpdir(), "netloom-readme-"));
  await mkdir(join(path, "node_modules"));
  await symlink(PACKAGE, join(path, "node_modules", "netloom"));
  await writeFile(join(path, "package.json"), '{ "type": "module" }');
  await writeFile(join(path, "cubes.js"), declaration());
  return path;
}

test("the README's page is at most 40 lines and imports the SDK from the server", () => {
  const page = readmePage();
  assert.ok(page.trimEnd().split("\n").length <= 40);
  assert.match(page, /from "\/netloom\/index\.js"/);
  assert.doesNotMatch(page, /innerHTML/);
});

test("the README's page declares what the server declares", async () => {
  const path = await folder();
  try {
    const declared = await import(join(path, "cubes.js"));
    assert.equal(declared.cubes.schemaHash, cubes.schemaHash);
    assert.equal(declared.cubes.id, cubes.id);
    assert.equal(declared.cubes.input.bitsMax, 5);
  } finally {
    await rm(path, { recursive: true });
  }
});

test(
  "the README's example for node runs",
  { skip: NETLOOM === undefined && "cargo build -p netloom-cli first" },
  async () => {
    const [, code] = /** @type {[string, string]} */ ([
      "",
      readmeBlocks("js").find((block) => block.includes("netloom/node")),
    ]);
    const [server, path] = [await startServe(), await folder()];
    try {
      await writeFile(join(path, "bot.js"), code.replace("udp://127.0.0.1:7777", addressOf(server, "udp")));
      const { stdout } = await promisify(execFile)(process.execPath, [join(path, "bot.js")], {
        timeout: 30_000,
      });
      assert.match(stdout, /^257 objects in /m);
    } finally {
      await rm(path, { recursive: true });
      await server.stop();
    }
  },
);
