//! What client and server of a game must have in common.
//!
//! Both build the same [`Protocol`]; the handshake compares. A server of another game does not even answer. One of the
//! same game with other objects or another version refuses, and says which version it has:
//!
//! ```text
//!   protocol id = hash of the game's name          differs: no answer
//!   schema hash = version (16 bits) | hash of all classes (48 bits)     differs: refused, with the server's value
//!   id of the code tables                                               differs: refused, with the server's id
//! ```
//!
//! Code tables say how short what is. The generic ones do for every game; one that was trained on recordings of a game makes
//! its snapshots smaller (`netloom train`), and ships with the game. All players of a server have the same: a code is made
//! once and copied to everybody who shares the baselines, and a second set of tables would double what is made and
//! kept.

use std::sync::Arc;

use netloom_replica::codec::{Codes, TableError as CodesError};
use netloom_replica::world::ClassTable;
use netloom_replica::{Class, ClassError, ClassId};
use netloom_wire::Schema;
use netloom_wire::hash::{Fnv64, fnv1a_64};
use netloom_wire::schema::SchemaError;

use crate::replicated::Replicated;
use crate::rpc::table::TableError;
use crate::rpc::{RpcOptions, RpcTable, TableBuilder};

/// The longest name of a game, in bytes.
pub const GAME_NAME_BYTES_MAX: usize = 64;

/// Prepended to the name of the game before it is hashed, with the version of the session's own messages: an older
/// Netloom is another protocol.
const SALT: &[u8] = b"netloom session 1 ";

/// What both sides of a game know. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Protocol {
    definition: Arc<Definition>,
    codes: Arc<Codes>,
}

#[derive(Debug)]
struct Definition {
    name: Box<str>,
    version: u16,
    classes: Vec<Class>,
    table: ClassTable,
    schema_hash: u64,
    rpcs: RpcTable,
}

/// Collects what a [`Protocol`] consists of.
#[derive(Debug)]
pub struct ProtocolBuilder {
    name: String,
    version: u16,
    schemas: Vec<Result<Schema, SchemaError>>,
    codes: Option<Result<Codes, CodesError>>,
    rpcs: TableBuilder,
    /// The first call that could not be added.
    rpc_error: Option<TableError>,
}

/// Why a protocol cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProtocolError {
    /// The game has no name, or too long a one.
    #[error("a game's name has 1 to {GAME_NAME_BYTES_MAX} bytes, {0:?} does not")]
    Name(String),
    /// Two classes have the same name.
    #[error("two classes are called {0:?}: rename one")]
    DuplicateClass(String),
    /// The fields of a class cannot be.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A class cannot be.
    #[error(transparent)]
    Class(#[from] ClassError),
    /// A call cannot be.
    #[error(transparent)]
    Rpc(#[from] TableError),
    /// The code tables are none.
    #[error(transparent)]
    Codes(#[from] CodesError),
}

impl Protocol {
    /// Begins a protocol with the name of the game.
    pub fn builder(game: &str) -> ProtocolBuilder {
        ProtocolBuilder {
            name: game.to_owned(),
            version: 1,
            schemas: Vec::new(),
            codes: None,
            rpcs: RpcTable::builder(),
            rpc_error: None,
        }
    }

    /// The name of the game.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The version of the game.
    pub fn version(&self) -> u16 {
        self.definition.version
    }

    /// The classes, in the order of their ids.
    pub fn classes(&self) -> &[Class] {
        &self.definition.classes
    }

    /// The class with this name.
    pub fn class_id(&self, name: &str) -> Option<ClassId> {
        let at = self.definition.classes.iter().position(|class| class.schema().name() == name)?;
        Some(ClassId(at as u8))
    }

    /// The number that datagrams of this game carry.
    pub fn id(&self) -> u64 {
        Fnv64::new().with(SALT).with(self.definition.name.as_bytes()).value()
    }

    /// The number that the handshake compares.
    pub fn schema_hash(&self) -> u64 {
        self.definition.schema_hash
    }

    /// The version in a [`schema_hash`](Protocol::schema_hash), of whichever side.
    pub fn version_in(schema_hash: u64) -> u16 {
        (schema_hash >> 48) as u16
    }

    /// The calls that this side knows. The handshake does not compare them: see [`rpc::table`](crate::rpc::table).
    pub fn rpcs(&self) -> &RpcTable {
        &self.definition.rpcs
    }

    pub(crate) fn table(&self) -> ClassTable {
        self.definition.table.clone()
    }

    /// The code tables, whose id the handshake compares.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The same game with other code tables.
    #[must_use]
    pub fn with_codes(self, codes: Codes) -> Protocol {
        Protocol { codes: Arc::new(codes), ..self }
    }
}

impl ProtocolBuilder {
    /// The version of the game, 1 unless said. Clients and servers of different versions do not meet.
    #[must_use]
    pub fn version(mut self, version: u16) -> ProtocolBuilder {
        self.version = version;
        self
    }

    /// Adds a struct as a class of objects.
    #[must_use]
    pub fn object<T: Replicated>(mut self) -> ProtocolBuilder {
        self.schemas.push(T::schema());
        self
    }

    /// Adds a class of objects by its fields. The first gets the id 0.
    #[must_use]
    pub fn class(mut self, schema: Schema) -> ProtocolBuilder {
        self.schemas.push(Ok(schema));
        self
    }

    /// Adds a call by its name. In which order does not matter, and the other side may know more or fewer names.
    #[must_use]
    pub fn rpc(mut self, name: &str, options: RpcOptions) -> ProtocolBuilder {
        if let Err(error) = self.rpcs.add(name, options) {
            self.rpc_error.get_or_insert(error);
        }
        self
    }

    /// The code tables of this game, as `netloom train` wrote them: `include_bytes!("my-game.table")`. Without, the generic
    /// ones.
    #[must_use]
    pub fn table(mut self, file: &[u8]) -> ProtocolBuilder {
        self.codes = Some(Codes::parse(file));
        self
    }

    /// The protocol, or what is wrong with it.
    pub fn build(self) -> Result<Protocol, ProtocolError> {
        let ProtocolBuilder { name, version, schemas, codes, rpcs, rpc_error } = self;
        if !(1..=GAME_NAME_BYTES_MAX).contains(&name.len()) {
            return Err(ProtocolError::Name(name));
        }
        if let Some(error) = rpc_error {
            return Err(error.into());
        }
        let schemas = schemas.into_iter().collect::<Result<Vec<Schema>, _>>()?;
        for (at, schema) in schemas.iter().enumerate() {
            if schemas[..at].iter().any(|other| other.name() == schema.name()) {
                return Err(ProtocolError::DuplicateClass(schema.name().to_owned()));
            }
        }
        let classes = schemas.into_iter().map(Class::new).collect::<Result<Vec<_>, _>>()?;
        let table = ClassTable::new(classes.clone())?;
        let layout = fnv1a_64(&table.hash().to_le_bytes()) >> 16;
        let schema_hash = u64::from(version) << 48 | layout;
        let (name, rpcs) = (name.into(), rpcs.build());
        let codes = Arc::new(codes.transpose()?.unwrap_or_else(Codes::generic));
        let definition = Arc::new(Definition { name, version, classes, table, schema_hash, rpcs });
        Ok(Protocol { definition, codes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_wire::schema::{FieldKind, SyncFlags};

    fn schema(name: &str, field: &str) -> Schema {
        Schema::builder(name).field(field, FieldKind::F32, SyncFlags::PUBLIC_SYNC, 1).build().unwrap()
    }

    #[test]
    fn the_hash_tells_versions_and_layouts_apart_and_names_the_version() {
        let build = |version, field| {
            let builder = Protocol::builder("game").version(version).class(schema("tank", field));
            builder.build().unwrap()
        };
        let base = build(3, "health");
        assert_eq!(base.schema_hash(), build(3, "health").schema_hash());
        assert_ne!(base.schema_hash(), build(4, "health").schema_hash());
        assert_ne!(base.schema_hash(), build(3, "armour").schema_hash());
        assert_eq!(Protocol::version_in(build(4, "armour").schema_hash()), 4);
        assert_eq!(base.id(), build(4, "armour").id(), "the game is the same");
        assert_ne!(base.id(), Protocol::builder("other").build().unwrap().id());
    }

    #[test]
    fn mistakes_are_named() {
        let twice = Protocol::builder("game").class(schema("tank", "a")).class(schema("tank", "b")).build();
        assert_eq!(twice.unwrap_err(), ProtocolError::DuplicateClass("tank".to_owned()));
        assert!(matches!(Protocol::builder("").build(), Err(ProtocolError::Name(_))));
        let fire = || Protocol::builder("game").rpc("fire", RpcOptions::default());
        let twice = fire().rpc("fire", RpcOptions::default()).rpc("", RpcOptions::default()).build();
        assert_eq!(twice.unwrap_err(), ProtocolError::Rpc(TableError::Duplicate { name: "fire".into() }));
        assert!(fire().build().unwrap().rpcs().id("fire").is_some());
        let no_table = Protocol::builder("game").table(b"no table").build();
        assert_eq!(no_table.unwrap_err(), ProtocolError::Codes(CodesError::Magic));
        let protocol =
            Protocol::builder("game").class(schema("a", "x")).class(schema("b", "x")).build().unwrap();
        assert_eq!(protocol.class_id("b"), Some(ClassId(1)));
        assert_eq!(protocol.class_id("c"), None);
    }
}
