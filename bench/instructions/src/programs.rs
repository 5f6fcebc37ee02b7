//! The programs whose instructions are counted. A new one is a file here and its line in [`PROGRAMS`].

mod codec;
mod cold;
mod messages;
mod seal;
mod stage;
mod tick;

/// A hot path that is run often enough for its instructions to say something.
pub struct Program {
    pub name: &'static str,
    pub about: &'static str,
    run: fn(),
}

/// All of them.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "write",
        about: "the codec: 250 bodies against two baselines, written",
        run: codec::write,
    },
    Program { name: "read", about: "the codec: the same, read", run: codec::read },
    Program {
        name: "select",
        about: "a tick for 16 peers and 200 objects: who gets what",
        run: stage::select,
    },
    Program { name: "encode", about: "the same: the codes that anybody needs", run: stage::encode },
    Program { name: "append", about: "the same: snapshots of 16 peers", run: stage::append },
    Program { name: "decode", about: "the same: a client reads its snapshots", run: stage::decode },
    Program {
        name: "encode-exact",
        about: "the same in whole floats: the codes that anybody needs",
        run: stage::encode_exact,
    },
    Program { name: "append-exact", about: "the same: snapshots of 16 peers", run: stage::append_exact },
    Program {
        name: "decode-exact",
        about: "the same: a client reads its snapshots",
        run: stage::decode_exact,
    },
    Program { name: "seal", about: "packets of 300 and 1,200 bytes, sealed and opened", run: seal::run },
    Program {
        name: "messages",
        about: "connections alone: five messages to each of 16 clients, and what they acknowledge",
        run: messages::run,
    },
    Program {
        name: "tick",
        about: "a server's whole tick for 16 clients and 200 objects, over memory",
        run: tick::run,
    },
    Program {
        name: "watch",
        about: "the same for clients who only watch, unencrypted, after the caches have gone cold",
        run: tick::watch,
    },
];

/// Programs that are counted by lines of memory too: what a period of them is, and how many count.
pub const COLD_PROGRAMS: [(&str, &str, u64); 2] =
    [("watch", "50 ms", tick::PERIODS), ("messages", "a tick", messages::TICKS)];

/// The program of a name.
pub fn find(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == name).ok_or_else(|| {
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        format!("there is no program {name:?}: choose {}", names.join(", "))
    })
}

impl Program {
    /// Runs it.
    pub fn run(&self) {
        (self.run)();
    }
}

/// What counts: valgrind counts from the beginning of this function to its end. Programs call it once or often.
#[inline(never)]
pub fn counted(work: &mut dyn FnMut()) {
    work();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_runs_to_its_end_and_checks_itself() {
        PROGRAMS.iter().for_each(Program::run);
    }

    #[test]
    fn an_unknown_program_names_the_known_ones() {
        let said = find("nothing").err().unwrap();
        assert!(PROGRAMS.iter().all(|program| said.contains(program.name)), "{said}");
    }
}
