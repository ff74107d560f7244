// What ranks tell each other, and how it is written: the records that follow a frame's header.
//
//   master to rank:  Welcome | Begin (Parameters Order* Stop*)* End ... | Leave Go
//   rank to master:  Hello   | (Answer Overruns Failed Damaged)* ...    | Leaving
//
// Parameters travel in frames of their own, which all ranks share; a rank reads them before the
// first order that needs them, since frames of one sender keep their order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/frame.hpp"
#include "paceline/coordinator.hpp"
#include "paceline/message_maker.hpp"
#include "runtime/worker.hpp"

namespace paceline {

/// To be raised whenever a record changes.
inline constexpr std::uint32_t kProtocol = 4;

enum class RecordKind : std::uint32_t {
  kHello = 1,
  kWelcome,
  kBegin,
  kParameters,
  kOrder,
  kStop,
  kEnd,
  kLeave,
  kGo,  ///< 1: all leave together; 0: some are gone
  kAnswer,
  kOverruns,
  kFailed,
  kDamaged,
  kLeaving,
  // Of runs with parameter servers (shard_records.hpp).
  kModel,
  kStored,
  kOpen,
  kSeeded,     ///< the server's bank is complete
  kCollected,  ///< this was all of it
  kTake,
  kDiscard,
  kApply,
  kDrop,
  kShip,
  kCollect,
  kReport,
  kDecoded,
  kDamagedBy,
  kSlice,  ///< of parameters; written as kParameters are
};

/// What a rank says of itself when it joins. Its first two fields never change their place, so that
/// any version can say which version it met.
struct Hello {
  std::uint32_t protocol = kProtocol;
  std::string version;        ///< of the program
  std::uint64_t options = 0;  ///< digest of what all ranks must have been told alike
  std::uint64_t data = 0;     ///< digest of the training data
  std::string host;
  std::string machine;  ///< equal for processes that see each other's process ids
  int pid = 0;
  std::string refusal;  ///< why the rank cannot work; empty: it can
};

/// A scheme's run begins.
struct Begin {
  int workers = 0;  ///< n
  MessageLayout layout;

  /// Parameter servers: ranks 1 ... count. The rest is for them.
  struct Servers {
    int count = 0;
    int batch_size = 1;
    double skip_above = 0;
    int verify = 0;  ///< 1: they send every decoded gradient
  };

  Servers servers = {};
};

/// @param kind  kHello or kWelcome
void write(FrameWriter& out, RecordKind kind, const Hello& hello);
Hello read_hello(FrameReader& in);

void write(FrameWriter& out, const Begin& begin);
Begin read_begin(FrameReader& in);

/// @param kind  kParameters, or kSlice of a server's share
void write_parameters(FrameWriter& out,
                      ModelId model,
                      Version version,
                      std::span<const float> values,
                      RecordKind kind = RecordKind::kParameters);

struct ReadParameters {
  ModelId model;
  Version version;
  std::vector<float> values;
};

ReadParameters read_parameters(FrameReader& in);

void write(FrameWriter& out, const Order& order);
Order read_order(FrameReader& in);

void write(FrameWriter& out, const Stop& stop);
Stop read_stop(FrameReader& in);

/// An answer with the messages of the tasks that have a row.
struct AnswerHead {
  Result result;
  std::size_t messages = 0;
};

struct MessageHead {
  int task = 0;
  double loss = 0;
  int samples = 0;
  int exponent = 0;        ///< of packed values
  std::size_t length = 0;  ///< of the values that follow
};

void write(FrameWriter& out, const AnswerHead& answer);
AnswerHead read_answer(FrameReader& in);
/// The type of a run's messages is that of its layout; it is not written.
/// @pre the values are rounded to it
void write_message(FrameWriter& out, int task, const MadeMessage& made, MessageType type);
/// As above, with the exponent of a longer message of which these are some of the values.
void write_message(
    FrameWriter& out, int task, const MadeMessage& made, MessageType type, int exponent);
MessageHead read_message(FrameReader& in, MessageType type);
/// What follows the head. @param values  shape (head.length)
void read_values(FrameReader& in,
                 const MessageHead& head,
                 MessageType type,
                 std::span<float> values);

void write_text(FrameWriter& out, RecordKind kind, const std::string& text);
void write_number(FrameWriter& out, RecordKind kind, int number);

}  // namespace paceline
