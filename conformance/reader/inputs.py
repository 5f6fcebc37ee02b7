"""What players do, on its way to the server (section 47).

Inputs are known by step, and a message repeats all that the server has not confirmed, the newest first:

    step u16 | count u8 | [view step u16, fraction u8] | bits: input, then per older one 1, or 0 and the input
"""

from cursors import Bits, Bytes, Refusal
from values import wrapping_distance

MESSAGE_BYTES_MAX = 512
INPUTS_MAX = 64
INPUT_BYTES_MAX = 64
VIEW = 0x80


def nearest(low16, near):
    """The number that ends in these bits and is nearest to another one (38.1)."""
    return (near + wrapping_distance(low16, near % 65536, 16)) % 2**32


def read_input(bits, count):
    """Some bytes, or a length and as many bytes."""
    if count is None:
        count = bits.unsigned(7)
        if count > INPUT_BYTES_MAX:
            raise Refusal("TooLong")
    return bytes(bits.unsigned(8) for _ in range(count))


def read_inputs(data, count, near):
    """The newest step, the view time or None, and the inputs, the newest first."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise Refusal("TooLong")
    source = Bytes(data)
    newest, number = source.unsigned(2), source.unsigned(1)
    view = (nearest(source.unsigned(2), near), source.unsigned(1)) if number & VIEW else None
    number &= VIEW - 1
    if not 1 <= number <= INPUTS_MAX:
        raise Refusal("OutOfRange")
    bits, inputs = Bits(source.take(source.left())), []
    for _ in range(number):
        is_same = inputs and bits.unsigned(1)
        inputs.append(inputs[-1] if is_same else read_input(bits, count))
    bits.end()
    return nearest(newest, near), view, inputs
