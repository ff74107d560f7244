#!/usr/bin/env python3
"""Reads TensorBoard's event files, written from the descriptions of TFRecord and of Protocol Buffers' encoding alone.

read_events.py FOLDER: a line "run tag steps first last" for each chart under the folder, as TensorBoard shows it: a START
at a step voids what earlier files say from this step on. Ends with 1 at the first broken record.
"""
import os
import struct
import sys


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283  # the check value that catalogues of CRCs list for this code


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        (check,) = struct.unpack_from("<I", data, at + 8)
        assert check == masked(data[at:at + 8]), f"{path}: the length at {at} is broken"
        record = data[at + 12:at + 12 + length]
        (check,) = struct.unpack_from("<I", data, at + 12 + length)
        assert check == masked(record), f"{path}: the record at {at} is broken"
        at += 16 + length
        yield record


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            assert kind == 5, f"wire type {kind}"
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        found[number] = value
    return found


def charts(folder):
    kept = {}
    for name in sorted(os.listdir(folder)):
        if "tfevents" not in name:
            continue
        for number, record in enumerate(records(os.path.join(folder, name))):
            event = fields(record)
            assert 1.6e9 < event[1] < 1e10, f"{name}: time {event[1]}"
            if number == 0:
                assert event[3] == b"brain.Event:2", f"{name} does not begin with its version"
            if 7 in event and fields(event[7]).get(1) == 1:
                for values in kept.values():
                    values[:] = [value for value in values if value[0] < event.get(2, 0)]
            if 5 in event:
                value = fields(fields(event[5])[1])
                kept.setdefault(value[1].decode(), []).append((event.get(2, 0), value[2]))
    return kept


root = sys.argv[1]
for folder, _, files in sorted(os.walk(root)):
    for tag, values in sorted(charts(folder).items()):
        steps = [step for step, _ in values]
        order = "in-order" if steps == sorted(set(steps)) else "out-of-order"
        print(os.path.relpath(folder, root), tag.replace(" ", "_"), order, steps[0], steps[-1], len(steps),
              f"{values[-1][1]:.6g}")
