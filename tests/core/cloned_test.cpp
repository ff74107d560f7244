// An owner of a polymorphic value that copies it.
#include "paceline/cloned.hpp"

#include <gtest/gtest.h>

namespace paceline {
namespace {

struct Counter {
  virtual ~Counter() = default;
  virtual int next() = 0;
  virtual std::unique_ptr<Counter> clone() const = 0;
};

struct ByTwo final : Counter {
  int next() override { return value += 2; }

  std::unique_ptr<Counter> clone() const override { return std::make_unique<ByTwo>(*this); }

  int value = 0;
};

TEST(Cloned, ACopyContinuesLikeItsOriginalAndAloneFromThere) {
  Cloned<Counter> original(std::make_unique<ByTwo>());
  EXPECT_EQ(original->next(), 2);
  const Cloned<Counter> copy = original;
  EXPECT_NE(copy.get(), original.get());
  EXPECT_EQ(original->next(), 4);
  EXPECT_EQ((*copy).next(), 4);
}

TEST(Cloned, AssignmentCopiesToo) {
  Cloned<Counter> original(std::make_unique<ByTwo>());
  Cloned<Counter> copy(std::make_unique<ByTwo>());
  EXPECT_EQ(original->next(), 2);
  copy = original;
  EXPECT_EQ(copy->next(), 4);
  const Cloned<Counter>& same = copy;
  copy = same;
  EXPECT_EQ(copy->next(), 6);
  EXPECT_EQ(original->next(), 4);
}

TEST(Cloned, MovingKeepsTheValueWhereItIs) {
  Cloned<Counter> original(std::make_unique<ByTwo>());
  const Counter* value = original.get();
  const Cloned<Counter> moved = std::move(original);
  EXPECT_EQ(moved.get(), value);
}

TEST(Cloned, NothingIsCopiedAsNothing) {
  const Cloned<Counter> nothing(nullptr);
  const Cloned<Counter> copy = nothing;
  EXPECT_EQ(copy.get(), nullptr);
  Cloned<Counter> assigned(std::make_unique<ByTwo>());
  assigned = nothing;
  EXPECT_EQ(assigned.get(), nullptr);
}

}  // namespace
}  // namespace paceline
