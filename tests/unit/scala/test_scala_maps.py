"""Scala's maps, worked out by hand from the hashes of single letters ("a" is 97) and of the built-in names."""

from itertools import permutations

from kafka_assignors.java.scala_maps import ScalaMutableMap, immutable_order, improve_hash
from kafka_assignors.java.strings import hash_code


def filled(*keys: str) -> ScalaMutableMap:
    places = ScalaMutableMap()
    for key in keys:
        places = places.with_key(key)
    return places


def test_a_bin_of_the_mutable_map_is_sorted_by_hash() -> None:
    """ "a" 97 and "q" 113 have bin 1 of 16, "b" 98 bin 2; Java would keep "q" before "a" as it came."""
    assert filled("q", "b", "a").order() == ("a", "q", "b")


def test_keys_of_one_hash_stay_as_they_came() -> None:
    """ "Aa" and "BB" both hash to 2112."""
    assert filled("BB", "Aa").order() == ("BB", "Aa")
    assert filled("Aa", "BB").order() == ("Aa", "BB")
    assert filled("Aa", "BB").without_key("Aa").with_key("Aa").order() == ("BB", "Aa")


def test_a_negative_hash_comes_first_in_its_bin() -> None:
    """ "zzzzzz" hashes to -685785664, mixed -685806881: bin 15, as "o" (111)."""
    assert filled("o", "zzzzzz").order() == ("zzzzzz", "o")


def test_the_table_doubles_before_the_twelfth_key_and_never_shrinks() -> None:
    """In 16 bins "q" (bin 1) comes before "b" (2), in 32 after it (17)."""
    eleven = tuple("cdefghijklm")
    assert filled(*eleven).table == 16
    twelve = filled(*eleven, "n")
    assert twelve.table == 32
    for key in (*eleven, "n"):
        twelve = twelve.without_key(key)
    assert twelve.with_key("q").with_key("b").order() == ("b", "q")
    assert filled("q", "b").order() == ("q", "b")


def test_the_built_in_names_come_in_one_order_whatever_the_insertion() -> None:
    known = ("cooperative-sticky", "roundrobin", "range", "sticky")
    assert {immutable_order(names) for names in permutations(known)} == {known}


def test_keys_that_share_five_bits_come_after_all_single_ones() -> None:
    """Letters whose improved hashes share their lowest five bits are in a child, ordered by the next five."""
    letters = [chr(code) for code in range(0x100, 0x400)]
    by_bits: dict[int, list[str]] = {}
    for letter in letters:
        by_bits.setdefault(improve_hash(hash_code(letter)) & 31, []).append(letter)
    low, high = by_bits[min(by_bits)], by_bits[max(by_bits)]
    second = {improve_hash(hash_code(letter)) >> 5 & 31: letter for letter in low}
    pair = [second[bits] for bits in sorted(second)[:2]]
    assert immutable_order([*pair, high[0]]) == (high[0], *pair)
    assert immutable_order([high[0], *reversed(pair)]) == (high[0], *pair)


def test_keys_of_one_improved_hash_keep_the_order_in_which_they_came() -> None:
    assert immutable_order(["BB", "Aa"]) == ("BB", "Aa")
    assert immutable_order(["Aa", "BB"]) == ("Aa", "BB")


def test_a_map_of_keys_is_one_that_got_them_one_by_one() -> None:
    for count in range(60):
        keys = [f"member-{number}" for number in range(count)]
        assert ScalaMutableMap.of(keys) == filled(*keys)
