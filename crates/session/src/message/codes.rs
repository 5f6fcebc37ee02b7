//! Reasons and kinds that are bytes on the wire, and their words.

use netloom_wire::codes;

codes! {
    /// Why a client got no seat.
    Refusal {
        /// Every seat is taken.
        RoomFull = 1, "the room is full: try again later or choose another one";
        /// There is no such room.
        NoSuchRoom = 2, "there is no room of that name on this server";
        /// The name is taken.
        NameTaken = 3, "somebody in the room has that name: choose another one";
        /// The name cannot be used.
        BadName = 4, "that name cannot be used: 1 to 32 visible characters";
        /// The game said no.
        Denied = 5, "the game refused this player";
        /// This address or player is banned.
        Banned = 6, "this player is banned from the server";
        /// The room has ended.
        RoomClosed = 7, "the room has ended";
        /// The first message was no greeting, or came too late.
        BadHello = 8, "the greeting could not be understood";
    }
}

codes! {
    /// What is told of a lobby.
    LobbyNews {
        /// Everything about it.
        State = 0, "the state";
        /// Something that happened once.
        Event = 1, "an event";
    }
}

codes! {
    /// What a notice is about.
    NoticeKind {
        /// Something to read.
        Info = 1, "notice";
        /// This client is about to be removed.
        Kicked = 2, "kicked";
        /// The server is about to stop.
        Shutdown = 3, "the server is stopping";
        /// The room ended.
        RoomEnded = 4, "the room has ended";
        /// The connection cannot keep up.
        SlowConsumer = 5, "the connection could not keep up";
    }
}

codes! {
    /// Why a client's call was not made.
    CallRefusal {
        /// The server has no call with this id.
        Unknown = 1, "the server has no such call";
        /// Clients may not make it.
        NotAllowed = 2, "only the server may make this call";
        /// Clients may make it to the server only.
        NotForwarded = 3, "this call is for the server only";
        /// The arguments are too long.
        TooLarge = 4, "the arguments take more bytes than this call allows";
        /// It is made too often.
        TooOften = 5, "the call is made too often: slow down";
        /// The arguments are not those that it takes.
        BadArguments = 6, "the arguments are not those that this call takes";
        /// The object that it is about is gone, or was never in sight.
        NoSuchObject = 7, "the object that the call is about is not there";
        /// The game has no use for it.
        Unhandled = 8, "the game does not handle this call";
        /// The game does not pass it on.
        NotPassedOn = 9, "the game did not pass the call on";
        /// The game refuses, in words of its own.
        ByGame = 10, "the game refused the call";
    }
}
