"""Code tables and what is coded with them (sections 10 and 11).

Words that change little cost few bits if small differences have short codes. A table is a list of code lengths; the
codes follow from it, most significant bit first:

    lengths A 2, B 1, C 3, D 3   ->   B 0, A 10, C 110, D 111
"""

from cursors import Bytes, Refusal, bits_for, fnv1a_32

CODE_BITS_MAX = 12
SET_SYMBOLS = {"residual": 18, "run": 17, "mask": 6}
SET_BYTES = 1 + sum((count + 1) // 2 for count in SET_SYMBOLS.values())
GENERIC_LENGTHS = {
    "residual": [2, 3, 3, 3, 3, 4, 4, 4, 5, 7, 7, 8, 9, 10, 11, 12, 12, 7],
    "run": [1, 3, 3, 3, 4, 5, 6, 7, 8, 9, 11, 12, 12, 12, 12, 12, 12],
    "mask": [4, 1, 2, 4, 4, 4],
}
RESIDUAL_ESCAPE = 17
MASK_WHOLE = 5
RUN_MAX = 65535
BASELINE_AGE_MAX = 1023


class CodeTable:
    def __init__(self, lengths):
        if not all(1 <= length <= CODE_BITS_MAX for length in lengths):
            raise Refusal("CodeLength")
        if sum(1 << (CODE_BITS_MAX - length) for length in lengths) != 1 << CODE_BITS_MAX:
            raise Refusal("Kraft")
        self.lengths = lengths
        self.symbols = {}
        code = 0
        for length in range(1, CODE_BITS_MAX + 1):
            code *= 2
            for symbol, its_length in enumerate(lengths):
                if its_length == length:
                    self.symbols[length, code] = symbol
                    code += 1

    def id(self):
        return fnv1a_32(len(self.lengths).to_bytes(2, "little") + bytes(self.lengths))

    def read(self, bits):
        # Ends within twelve bits: with a sum of 4096 every bit string starts with a code.
        length, code = 1, bits.peek_bit(0)
        while (length, code) not in self.symbols:
            code = code * 2 + bits.peek_bit(length)
            length += 1
        bits.unsigned(length)
        return self.symbols[length, code]


def read_table_set(data):
    """The three tables of a serialized set (section 10.1)."""
    if not data:
        raise Refusal("Length")
    if data[0] != 1:
        raise Refusal("Version")
    if len(data) != SET_BYTES:
        raise Refusal("Length")
    source = Bytes(data[1:])
    lengths = {}
    for name, count in SET_SYMBOLS.items():
        halves = [half for byte in source.take((count + 1) // 2) for half in (byte & 15, byte >> 4)]
        if any(halves[count:]):
            raise Refusal("Padding")
        lengths[name] = halves[:count]
    return {name: CodeTable(its_lengths) for name, its_lengths in lengths.items()}


def generic_set():
    return {name: CodeTable(lengths) for name, lengths in GENERIC_LENGTHS.items()}


def read_changed_mask(bits, table, field_count):
    symbol = table.read(bits)
    if symbol == MASK_WHOLE:
        return bits.unsigned(field_count)
    mask, previous = 0, -1
    for _ in range(symbol):
        index = bits.unsigned(bits_for(field_count - 1))
        if index >= field_count or index <= previous:
            raise Refusal("InvalidField")
        mask |= 1 << index
        previous = index
    return mask


def read_residual(bits, table, minimum, maximum, predicted):
    symbol = table.read(bits)
    if symbol > RESIDUAL_ESCAPE:
        raise Refusal("InvalidCode")
    if symbol == RESIDUAL_ESCAPE:
        return bits.ranged(minimum, maximum)
    word = predicted
    if symbol > 0:
        negative = bits.unsigned(1)
        size = 1 << (symbol - 1) | bits.unsigned(symbol - 1)
        word = predicted - size if negative else predicted + size
    if not minimum <= word <= maximum:
        raise Refusal("OutOfRange")
    return word


def read_run(bits, table, left):
    extra = table.read(bits)
    run = (1 << extra | bits.unsigned(extra)) - 1
    if run > min(left, RUN_MAX):
        raise Refusal("OutOfRange")
    return run


def predict(newer, newer_age, older, older_age, minimum, maximum):
    """Section 11.4: the straight line through two baselines, rounded half away from zero, within the range."""
    predicted = newer
    if newer_age < older_age <= BASELINE_AGE_MAX:
        numerator = (newer - older) * newer_age
        span = older_age - newer_age
        step = (2 * abs(numerator) + span) // (2 * span)
        predicted = newer - step if numerator < 0 else newer + step
    return max(minimum, min(maximum, predicted))
