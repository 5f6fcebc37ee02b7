//! Golden vectors of the classic protocol: every opcode, both ways, and what must be refused.
//!
//! `given.from` says whose datagram it is. A message of a client has its `token`, or null.

use netloom_rtype::classic::codec::{
    BossKind, BossSpawned, Choice, EntityPosition, ErrorCode, ErrorMessage, FromServer, GameInfo, GameOver,
    GamePhase, GameStart, Join, LevelInfo, LobbyPhase, LobbyStatus, PlayerInput, PowerType, PowerupSpawned,
    PowerupStatus, Request, RequestError, ToClient, ToServer, WeaponConfirm, WeaponOffer, WeaponType,
    encode_entity_positions,
};
use serde_json::{Value, json};

use crate::wire_vectors::{case, file, hex, reason, refused_as, single, written};

const TOKEN: u64 = 0x0807_0605_0403_0201;
const COOKIE: [u8; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];

/// The vector file of the classic protocol.
pub fn vectors() -> Vec<crate::VectorFile> {
    let cases = [requests(), answers(), wrong_requests(), wrong_answers()].concat();
    vec![("classic", file("Datagrams of the classic protocol, of clients and of the server.", cases))]
}

fn of_client() -> Value {
    json!({ "from": "client" })
}

fn of_server() -> Value {
    json!({ "from": "server" })
}

fn described_request(request: &Request) -> Value {
    let message = match request.message {
        ToServer::Join(join) => {
            let join = join.map(|join| json!({ "version": join.version, "cookie": hex(&join.cookie) }));
            json!({ "join": join })
        }
        ToServer::Ready | ToServer::Leave => json!({}),
        ToServer::Input(input) => json!({ "mask": input.bits() }),
        ToServer::ChoosePower(choice) | ToServer::ChooseWeapon(choice) => {
            json!({ "offer": choice.offer, "choice": choice.choice })
        }
        ToServer::Ping(nonce) => json!({ "nonce": nonce }),
    };
    let token = request.token.map(|token| token.to_string());
    json!({ "opcode": request.message.opcode(), "message": message, "token": token })
}

fn described_answer(datagram: &[u8]) -> Value {
    let (opcode, message) = match FromServer::decode(datagram).expect("a valid datagram") {
        FromServer::Entities(entities) => (
            datagram[0],
            json!({ "entities": entities.iter().map(|one| described_entity(&one)).collect::<Value>() }),
        ),
        FromServer::Message(message) => (message.opcode(), described_message(&message)),
    };
    json!({ "opcode": opcode, "message": message })
}

fn described_entity(entity: &EntityPosition) -> Value {
    json!({
        "id": entity.id, "x": single(entity.x), "y": single(entity.y),
        "vx": single(entity.vx), "vy": single(entity.vy), "type": entity.kind,
    })
}

fn described_message(message: &ToClient) -> Value {
    match message {
        ToClient::LobbyStatus(lobby) => json!({
            "players": lobby.players, "ready": lobby.ready, "capacity": lobby.capacity, "minimum": lobby.minimum,
            "phase": lobby.phase.code(), "your_id": lobby.your_id, "your_ready": u8::from(lobby.your_ready),
        }),
        ToClient::GameStart(start) => json!({ "your_id": start.your_id }),
        ToClient::Challenge(cookie) => json!({ "cookie": cookie.map(|cookie| hex(&cookie)) }),
        ToClient::Session(token) => json!({ "token": token.to_string() }),
        ToClient::GameInfo(info) => json!({
            "score": info.score, "lives": info.lives, "level": info.level, "wave": info.wave,
            "phase": info.phase.code(), "shield": info.shield, "thrusters": info.thrusters,
            "drone": u8::from(info.drone), "weapon": info.weapon.code(), "weapon_level": info.weapon_level,
            "ammo": info.ammo,
        }),
        ToClient::LevelInfo(info) => json!({ "level": info.level, "elapsed_ms": info.elapsed_ms }),
        ToClient::BossSpawned(boss) => json!({ "id": boss.id, "kind": boss.kind.code() }),
        ToClient::GameOver(over) => {
            json!({ "won": u8::from(over.won), "score": over.score, "level": over.level })
        }
        ToClient::PowerupSpawned(capsule) => json!({
            "id": capsule.id, "x": single(capsule.x), "y": single(capsule.y), "type": capsule.kind,
        }),
        ToClient::PowerupStatus(status) => {
            let [first, second, third] = status.choices.map(PowerType::code);
            json!({
                "offer": status.offer, "choice_0": first, "choice_1": second, "choice_2": third,
                "taken": status.taken.code(), "level": status.level,
            })
        }
        ToClient::WeaponOffer(offer) => {
            let [first, second, third] = offer.choices.map(WeaponType::code);
            json!({ "offer": offer.offer, "choice_0": first, "choice_1": second, "choice_2": third })
        }
        ToClient::WeaponConfirm(confirm) => {
            json!({ "offer": confirm.offer, "weapon": confirm.weapon.code(), "level": confirm.level })
        }
        ToClient::Ping(nonce) => json!({ "nonce": nonce }),
        ToClient::Error(error) => json!({ "code": error.code.code(), "opcode": error.opcode }),
    }
}

fn requests() -> Vec<Value> {
    let choice = Choice { offer: 258, choice: 2 };
    let input = PlayerInput::UP.with(PlayerInput::RIGHT).with(PlayerInput::SHOOT);
    let all = [
        ("join, the bare three bytes", ToServer::Join(None), None),
        ("join, to be challenged", ToServer::Join(Some(Join::FIRST)), None),
        ("join, with the cookie of the challenge", ToServer::Join(Some(Join::with(COOKIE))), None),
        ("ready, without a token", ToServer::Ready, None),
        ("ready", ToServer::Ready, Some(TOKEN)),
        ("leave", ToServer::Leave, Some(TOKEN)),
        ("up, right and shoot, without a token", ToServer::Input(input), None),
        ("up, right and shoot", ToServer::Input(input), Some(TOKEN)),
        ("a power", ToServer::ChoosePower(choice), Some(TOKEN)),
        ("a weapon", ToServer::ChooseWeapon(choice), Some(TOKEN)),
        ("a ping of a client, without a number or a token", ToServer::Ping(None), None),
        ("a ping of a client, with both", ToServer::Ping(Some(1_000)), Some(u64::MAX)),
    ];
    let described = |(name, message, token): (&str, ToServer, Option<u64>)| {
        let request = Request { message, token };
        let bytes = written(|out| request.encode(out));
        assert_eq!(Request::decode(&bytes), Ok(request), "{name}");
        case(name, of_client(), &bytes, described_request(&request))
    };
    all.map(described).to_vec()
}

fn answers() -> Vec<Value> {
    let pair = [
        EntityPosition { id: 42, x: 100.5, y: 200.0, vx: 5.0, vy: 0.0, kind: EntityPosition::PLAYER },
        EntityPosition { id: 100, x: 400.0, y: 150.5, vx: -3.0, vy: 1.0, kind: EntityPosition::ENEMY },
    ];
    let entities = [
        ("two entities", written(|out| encode_entity_positions(&pair, out))),
        ("no entities", written(|out| encode_entity_positions(&[], out))),
        ("56 entities", written(|out| encode_entity_positions(&[pair[1]; 56], out))),
    ];
    let messages = messages().into_iter().map(|(name, message)| (name, written(|out| message.encode(out))));
    let all = entities.into_iter().chain(messages);
    all.map(|(name, bytes)| case(name, of_server(), &bytes, described_answer(&bytes))).collect()
}

fn messages() -> Vec<(&'static str, ToClient)> {
    let lobby = LobbyStatus {
        players: 3,
        ready: 2,
        capacity: 4,
        minimum: 1,
        phase: LobbyPhase::Countdown,
        your_id: 7,
        your_ready: true,
    };
    let info = GameInfo {
        score: 1_000,
        lives: 3,
        level: 2,
        wave: 5,
        phase: GamePhase::Boss,
        shield: 1,
        thrusters: 2,
        drone: true,
        weapon: WeaponType::Lance,
        weapon_level: 3,
        ammo: 60,
    };
    let offered = PowerupStatus {
        offer: 9,
        choices: [PowerType::Thrusters, PowerType::Shield, PowerType::Drone],
        taken: PowerType::None,
        level: 0,
    };
    let taken = PowerupStatus { offer: 0, choices: [PowerType::None; 3], taken: PowerType::Shield, level: 2 };
    let weapons =
        WeaponOffer { offer: 4, choices: [WeaponType::Spread, WeaponType::Seeker, WeaponType::None] };
    let confirmed = WeaponConfirm { offer: 4, weapon: WeaponType::Seeker, level: 1 };
    let shield = PowerupSpawned { id: 55, x: 250.0, y: 180.0, kind: PowerupSpawned::SHIELD };
    let error = ErrorMessage { code: ErrorCode::UnknownOpcode, opcode: 0x77 };
    vec![
        ("a lobby that counts down", ToClient::LobbyStatus(lobby)),
        ("the game begins", ToClient::GameStart(GameStart { your_id: 7 })),
        ("a bare challenge", ToClient::Challenge(None)),
        ("a challenge", ToClient::Challenge(Some(COOKIE))),
        ("a session", ToClient::Session(TOKEN)),
        ("how the ship is", ToClient::GameInfo(info)),
        ("a level", ToClient::LevelInfo(LevelInfo { level: 2, elapsed_ms: 61_000 })),
        ("a boss", ToClient::BossSpawned(BossSpawned { id: 0x8000_0009, kind: BossKind::Leviathan })),
        ("the end", ToClient::GameOver(GameOver { won: true, score: 70_000, level: 3 })),
        ("a shield", ToClient::PowerupSpawned(shield)),
        ("powers to choose from", ToClient::PowerupStatus(offered)),
        ("a power that was taken", ToClient::PowerupStatus(taken)),
        ("weapons to choose from", ToClient::WeaponOffer(weapons)),
        ("a weapon that was chosen", ToClient::WeaponConfirm(confirmed)),
        ("a ping that came back", ToClient::Ping(Some(1_000))),
        ("an empty ping that came back", ToClient::Ping(None)),
        ("an error", ToClient::Error(error)),
    ]
}

fn wrong_requests() -> Vec<Value> {
    let all: [(&str, &[u8]); 11] = [
        ("two bytes", &[0x01, 0]),
        ("an input without its mask", &[0x10, 0x01, 0x00]),
        ("an input and a byte more", &[0x10, 0x01, 0x00, 0x19, 0x00]),
        ("an input of no buttons at all", &[0x10, 0x00, 0x00]),
        ("an input with a reserved bit", &[0x10, 0x01, 0x00, 0x20]),
        ("an opcode of the server", &[0x02, 0x00, 0x00]),
        ("an opcode of nobody", &[0x77, 0x01, 0x00, 0xab]),
        ("a join with a token", &[0x01, 0x08, 0x00, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("ready with half a token", &[0x03, 0x04, 0x00, 1, 2, 3, 4]),
        ("a choice of two bytes", &[0x31, 0x02, 0x00, 1, 0]),
        ("a weapon's choice of four bytes", &[0x41, 0x04, 0x00, 1, 0, 0, 0]),
    ];
    let refused = |(name, bytes): (&str, &[u8])| {
        let reason = match Request::decode(bytes).expect_err("it must be refused") {
            RequestError::Header(error) | RequestError::Payload { error, .. } => reason(error),
            RequestError::UnknownOpcode(_) => "UnknownOpcode",
            RequestError::Size { .. } => "Size",
        };
        refused_as(name, of_client(), bytes, reason)
    };
    all.map(refused).to_vec()
}

fn wrong_answers() -> Vec<Value> {
    let not_a_number = [&[0x30, 13, 0, 1, 0, 0, 0][..], &f32::NAN.to_le_bytes(), &[0; 5]].concat();
    let all: [(&str, &[u8]); 10] = [
        ("a start without all of its id", &[0x04, 3, 0, 7, 0, 0]),
        ("a start and a byte more", &[0x04, 5, 0, 7, 0, 0, 0, 0]),
        ("an end that is neither won nor lost", &[0x22, 6, 0, 2, 0, 0, 0, 0, 1]),
        ("a boss that is none", &[0x21, 5, 0, 9, 0, 0, 0, 3]),
        ("a lobby in no phase", &[0x02, 10, 0, 1, 0, 4, 1, 3, 7, 0, 0, 0, 0]),
        ("an error without a meaning", &[0xff, 2, 0, 0, 1]),
        ("57 entities announced", &[0x11, 4, 0, 57, 0, 0, 0]),
        ("an opcode of clients", &[0x03, 0, 0]),
        ("half a cookie", &[0x05, 10, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("a capsule in no place", &not_a_number),
    ];
    let refused = |(name, bytes): (&str, &[u8])| {
        let error = FromServer::decode(bytes).expect_err("it must be refused");
        refused_as(name, of_server(), bytes, reason(error))
    };
    all.map(refused).to_vec()
}
