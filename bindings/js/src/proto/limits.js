/** Every bound of the connection that is part of the wire format or of the memory layout (section 16.1). */

/** The largest datagram, header and trailer included. */
export const DATAGRAM_BYTES_MAX = 1200;
/** The smallest mtu: every handshake packet and one full fragment still fit. */
export const MTU_MIN = 1000;
/** Frames in a payload: the count is one byte. */
export const FRAMES_MAX = 255;
/** Channels: the id is a nibble, and 15 is taken. */
export const CHANNELS_MAX = 15;
/** The channel of frames that belong to the link itself. */
export const LINK_CHANNEL = 15;
/** Bytes of a message in one fragment. */
export const FRAGMENT_BYTES = 900;
/** Fragments of a reliable message: half the window. */
export const RELIABLE_FRAGMENTS_MAX = 512;
/** Fragments of an unreliable message: at 5 % loss larger ones never arrive whole. */
export const UNRELIABLE_FRAGMENTS_MAX = 64;
/**
 * Reliable ids between the oldest unacknowledged and the newest sent. A power of two: rings are indexed by
 * it.
 */
export const RELIABLE_WINDOW = 1024;
/** Packet numbers that are remembered against replay. A power of two. */
export const REPLAY_WINDOW = 512;
/** Packets that ask for an ack and are remembered; twice as many with those that do not. A power of two. */
export const PACKETS_IN_FLIGHT_MAX = 1024;
/** Messages remembered over all of these packets; a packet is closed early rather than exceed it. */
export const MESSAGES_IN_FLIGHT_MAX = 8192;
/** Bytes of a block: its length is one byte. */
export const BLOCK_BYTES_MAX = 255;
/** How many packets back redundancy reaches. */
export const BLOCK_DISTANCE_MAX = 8;
/** Blocks and parities that a receiver keeps. */
export const BLOCKS_KEPT = 16;
/** Incomplete unreliable messages per channel; the oldest gives way. */
export const ASSEMBLIES_MAX = 4;
/** What a waiting message counts for at least, so that very small ones cannot fill the memory. */
export const PENDING_MESSAGE_BYTES_MIN = 16;
/** What IP and UDP add to a datagram; the rate counts it, so that many small packets are not free. */
export const IP_UDP_BYTES = 28;
/** The wire version of the handshake. */
export const WIRE_VERSION = 1;
/** Bytes of a resume token. */
export const RESUME_TOKEN_BYTES = 32;
