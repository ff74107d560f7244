// What is said to, by and between parameter servers: the records of a run with servers, beside
// those of records.hpp.
//
//   master to server:  (Model | Stored | Open)* Seeded   (Take | Discard | Apply | Drop | Ship |
//                      Collect)*
//   server to master:  (Report | Decoded | DamagedBy)*   (Model | Stored | Open)* Collected
//   server to worker rank:  Slice         worker rank to server:  Answer
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/records.hpp"
#include "paceline/model_bank.hpp"

namespace paceline {

/// What a bank holds, an entry a record, so that no frame grows with their number.
void write_model(FrameWriter& out, const BankState::Model& model);
void write_stored(FrameWriter& out, const BankState::Message& message);
void write_open(FrameWriter& out, const BankState::OpenJob& job);

/// Whether `kind` is one of these three; then it is read and added to `state`.
bool read_state_record(RecordKind kind, FrameReader& in, BankState& state);

void write(FrameWriter& out, const Apply& apply);
Apply read_apply(FrameReader& in);

void write_drop(FrameWriter& out, std::span<const MessageId> messages);
std::vector<MessageId> read_drop(FrameReader& in);

/// The rank shall get the model's parameters.
struct Ship {
  int rank = 0;
  ModelId model;
  Version version;
};

void write(FrameWriter& out, const Ship& ship);
Ship read_ship(FrameReader& in);

/// A server has its slices of an answer. They are its own, not yet the bank's, until the master
/// says Take or Discard with the report's serial.
struct Report {
  std::uint32_t serial = 0;
  Result result;

  struct Message {
    int task = 0;
    double loss = 0;
    int samples = 0;
    bool finite = true;  ///< every number of this slice
  };

  std::vector<Message> messages;
};

void write(FrameWriter& out, const Report& report);
Report read_report(FrameReader& in);

/// A decoded gradient and what it was computed at, for verification: a server's slice, or the
/// whole.
struct DecodedGradient {
  JobId job;
  ModelId model;
  Version read;
  std::vector<float> parameters;
  std::vector<float> gradient;
};

void write(FrameWriter& out,
           JobId job,
           ModelId model,
           Version read,
           std::span<const float> parameters,
           std::span<const float> gradient);
DecodedGradient read_decoded(FrameReader& in);

/// A frame of another rank than the master arrived damaged.
struct DamagedBy {
  int rank = 0;
  std::string how;
};

void write(FrameWriter& out, const DamagedBy& damaged);
DamagedBy read_damaged_by(FrameReader& in);

}  // namespace paceline
