# SPDX-License-Identifier: Apache-2.0
"""Sealed machines that are wrong: whole to the eye, every seal computed anew, and one thing in them that must not be."""
import hashlib
import json
import struct


class Forged:
    def __init__(self, table, certificate):
        self.body, self.certificate = bytearray(table[:-32]), bytearray(certificate[:-32])
        self.states, self.symbols, self.initial, self.regions, description = struct.unpack_from("<5I", self.body, 12)
        self.first = 40 + (description + 7) // 8 * 8
        self.cells = len(self.body) - 4 * self.states * self.symbols

    def cell(self, row, symbol):
        return struct.unpack_from("<I", self.body, self.cells + 4 * (row * self.symbols + symbol))[0]

    def put(self, row, symbol, post, verdict, reason):
        struct.pack_into("<I", self.body, self.cells + 4 * (row * self.symbols + symbol), post | verdict << 22 | reason << 24)

    def find(self, verdict):
        """The last cell with that verdict."""
        for row in range(self.states - 1, -1, -1):
            for symbol in range(self.symbols - 1, -1, -1):
                if self.cell(row, symbol) >> 22 & 3 == verdict:
                    return row, symbol
        raise SystemExit("no such cell")

    def edges(self):
        return sum(struct.unpack_from("<I", self.body, at)[0] >> 22 & 3 == 1 for at in range(self.cells, len(self.body), 4))

    def sealed(self):
        """(table, certificate), as an attacker who can write both would seal them."""
        table = bytes(self.body) + hashlib.sha256(self.body).digest()
        self.certificate[16:48] = table[-32:]
        struct.pack_into("<Q", self.certificate, 56, self.edges())
        return table, bytes(self.certificate) + hashlib.sha256(self.certificate).digest()


def moved_refusal(f):
    row, symbol = f.find(0)
    f.put(row, symbol, (row + 1) % f.states, 0, f.cell(row, symbol) >> 24)


def unreasoned_refusal(f):
    row, symbol = f.find(0)
    f.put(row, symbol, row, 0, 0)


def unknown_reason(f):
    row, symbol = f.find(0)
    f.put(row, symbol, row, 0, 250)


def step_off_the_table(f):
    row, symbol = f.find(1)
    f.put(row, symbol, f.states, 1, 0)


def fault_cell(f):
    row, symbol = f.find(1)
    f.put(row, symbol, row, 3, 0)


def bit_in_a_bitmap(f):
    f.body[f.first + 8 * f.states] ^= 1


def state_in_another_order(f):
    a, b = f.first, f.first + 8
    f.body[a:a + 8], f.body[b:b + 8] = f.body[b:b + 8], f.body[a:a + 8]


def state_outside_its_domains(f):
    struct.pack_into("<Q", f.body, f.first + 8 * (f.states - 1), 1 << 63)


def state_in_a_region(f):
    """trifecta: a row becomes a state in which all three come together; its bitmap says nothing of it."""
    def state(row):
        return struct.unpack_from("<Q", f.body, f.first + 8 * row)[0]
    for row in range(1, f.states - 1):
        for value in range(state(row - 1) + 1, state(row + 1)):
            u, s, out, rest = value & 3, value >> 2 & 3, value >> 4 & 3, value >> 6
            if 0 < u < 3 and 0 < s < 3 and out and rest == state(row) >> 6:
                struct.pack_into("<Q", f.body, f.first + 8 * row, value)
                return
    raise SystemExit("no room for such a state")


def another_depth_of_claims(f):
    struct.pack_into("<I", f.certificate, 12, 30)


def renamed_region(f):
    """capability-broker: a region of one member under the name of another, so that nothing judges the first."""
    a, b = b'"name":"active-unapproved[net]"', b'"name":"active-unapproved[pay]"'
    assert f.body.count(a) == 1
    f.body[:] = f.body.replace(a, b)


def bit_of_a_member(f):
    """capability-broker: the first state, in which nothing is active, is said to be in the gated region of a member."""
    described = json.loads(f.body[40:40 + struct.unpack_from("<I", f.body, 28)[0]])
    at = f.first + 8 * f.states
    for region in described["regions"]:
        if region["name"] == "activated[pay]":
            f.body[at] ^= 1
            return
        at += ((f.states * f.symbols if region["edge"] else f.states) + 63) // 64 * 8
    raise SystemExit("no such region")


# What is done, and the word by which it must be refused.
FORGERIES = [
    (moved_refusal, "cell"), (unreasoned_refusal, "cell"), (unknown_reason, "cell"), (step_off_the_table, "cell"), (fault_cell, "cell"),
    (bit_in_a_bitmap, "region"), (state_in_another_order, "state"), (state_outside_its_domains, "state"),
    (another_depth_of_claims, "claims"),
]
OF = {
    "trifecta": [(state_in_a_region, "bitmap")],
    "capability-broker": [(renamed_region, "region"), (bit_of_a_member, "bitmap")],
}
