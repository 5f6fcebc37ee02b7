//! Why a lobby does not do what it was told.

use crate::names::NameRefused;

netloom_wire::codes! {
    /// Why a lobby does not do what it was told.
    LobbyRefused {
        /// No seat is left, not even to watch.
        Full = 1, "the lobby is full: try again later";
        /// The game has begun, and this lobby takes nobody in then.
        InGame = 2, "the game has begun: wait until it is over";
        /// This only makes sense in a game.
        NotInGame = 3, "there is no game yet";
        /// That player is here already.
        AlreadyHere = 4, "this player is in the lobby already";
        /// That player is not here.
        UnknownPlayer = 5, "there is no such player in the lobby";
        /// Nothing is left of the name once it is cleaned.
        NameEmpty = 6, "the name has no character that can be shown";
        /// The name is too long.
        NameTooLong = 7, "the name is too long: use at most 32 characters";
        /// Somebody has this name.
        NameTaken = 8, "somebody has this name already: choose another";
        /// Only the host may do that.
        NotHost = 9, "only the host may do this";
        /// Spectators may not do that.
        Spectator = 10, "spectators cannot do this: take a seat first";
        /// There is no such team.
        UnknownTeam = 11, "there is no such team";
        /// That team has as many players as it may.
        TeamFull = 12, "this team is full";
        /// There is no team to talk to.
        NoTeam = 13, "you are in no team";
        /// There is no such setting.
        UnknownSetting = 14, "there is no such setting";
        /// The setting cannot have this value.
        SettingValue = 15, "the setting cannot have this value";
        /// Too few players to begin.
        TooFew = 16, "there are too few players to begin";
        /// Somebody is not ready.
        NotReady = 17, "not everybody is ready";
        /// Nothing can be cancelled.
        NoCountdown = 18, "no countdown is running";
        /// Nobody can remove themselves; leaving is that.
        KickSelf = 19, "you cannot remove yourself: leave instead";
        /// The text is empty.
        TextEmpty = 20, "the text has no character that can be shown";
        /// The text is too long.
        TextTooLong = 21, "the text is too long";
        /// Too many lines of chat.
        ChatTooOften = 22, "too many messages: wait a moment";
        /// Too many commands.
        TooOften = 23, "too many commands: wait a moment";
        /// More has happened than was told yet.
        Busy = 24, "the lobby is busy: try again";
        /// Nobody may watch here, or no more.
        NoSpectators = 25, "there is no place to watch from";
    }
}

impl From<NameRefused> for LobbyRefused {
    fn from(refused: NameRefused) -> LobbyRefused {
        match refused {
            NameRefused::Empty => LobbyRefused::NameEmpty,
            NameRefused::TooLong => LobbyRefused::NameTooLong,
            NameRefused::Taken => LobbyRefused::NameTaken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_return_and_unknown_ones_are_none() {
        for (place, refused) in LobbyRefused::ALL.iter().enumerate() {
            assert_eq!(usize::from(refused.code()), place + 1);
            assert_eq!(LobbyRefused::from_code(refused.code()), Some(*refused));
        }
        assert_eq!(LobbyRefused::from_code(0), None);
        assert_eq!(LobbyRefused::from_code(LobbyRefused::ALL.len() as u8 + 1), None);
    }
}
