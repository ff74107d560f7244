// Parameter texts: what is read, and every error word for word.
#include "paceline/parameters.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace paceline {
namespace {

const std::vector<std::string> kCodes = {"repetition", "cyclic"};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ParameterText parsed(std::string_view text) { return ParameterText::parse(text).value(); }

std::string parse_error(std::string_view text) {
  const auto result = ParameterText::parse(text);
  return result ? "no error" : result.error().message;
}

std::string finish_error(const ParameterText& text) {
  const auto result = text.finish();
  return result ? "no error" : result.error().message;
}

TEST(ParameterText, ReadsNameAndTypedValues) {
  ParameterText text = parsed("gc:s=3,mu=0.5,code=cyclic");
  EXPECT_EQ(text.name(), "gc");
  EXPECT_TRUE(text.has("s"));
  EXPECT_FALSE(text.has("S"));
  EXPECT_EQ(text.integer("s", 0, 10), 3);
  EXPECT_EQ(text.number("mu", 0, 10), 0.5);
  EXPECT_EQ(text.word("code", kCodes, "repetition"), "cyclic");
  EXPECT_TRUE(text.ok());
  EXPECT_EQ(finish_error(text), "no error");
}

TEST(ParameterText, FillsInWhatIsAbsent) {
  ParameterText text = parsed("gc");
  EXPECT_EQ(text.integer("s", 0, 10, 4), 4);
  EXPECT_EQ(text.number("mu", 0, 10, 1.5), 1.5);
  EXPECT_EQ(text.word("code", kCodes, "repetition"), "repetition");
  EXPECT_EQ(finish_error(text), "no error");
}

TEST(ParameterText, RefusesTextsOfAnotherForm) {
  EXPECT_EQ(parse_error(""), "'' has no name; expected name or name:key=value,key=value");
  EXPECT_EQ(parse_error(":s=1"), "':s=1' has no name; expected name or name:key=value,key=value");
  EXPECT_EQ(parse_error("gc:s"), "'s' in 'gc:s' is not of the form key=value");
  EXPECT_EQ(parse_error("gc:s="), "'s=' in 'gc:s=' is not of the form key=value");
  EXPECT_EQ(parse_error("gc:=3"), "'=3' in 'gc:=3' is not of the form key=value");
  EXPECT_EQ(parse_error("gc:,s=3"), "'' in 'gc:,s=3' is not of the form key=value");
  EXPECT_EQ(parse_error("gc:s=3,,t=1"), "'' in 'gc:s=3,,t=1' is not of the form key=value");
  EXPECT_EQ(parse_error("gc:s=1,s=2"), "'gc:s=1,s=2' gives s twice");
}

TEST(ParameterText, RefusesATextThatBreaksOff) {
  EXPECT_EQ(parse_error("gc:"), "'' in 'gc:' is not of the form key=value");
  EXPECT_EQ(parse_error("gc:s=3,"), "'' in 'gc:s=3,' is not of the form key=value");
}

TEST(ParameterText, SaysWhichIntegersAreAllowed) {
  for (const char* value : {"-1", "11", "3.5", "x", "+3", "0x3", "3 ", "99999999999"}) {
    ParameterText text = parsed(std::string("gc:s=") + value);
    EXPECT_EQ(text.integer("s", 0, 10), 0) << "low end after an error";
    EXPECT_FALSE(text.ok());
    EXPECT_EQ(finish_error(text),
              std::string("gc:s=") + value + ": s=" + value +
                  " is not allowed; an integer, 0 <= s <= 10");
  }
}

TEST(ParameterText, AcceptsTheEndsOfARange) {
  ParameterText text = parsed("gc:a=0,b=10,c=-0.5,d=2");
  EXPECT_EQ(text.integer("a", 0, 10), 0);
  EXPECT_EQ(text.integer("b", 0, 10), 10);
  EXPECT_EQ(text.number("c", -0.5, 2), -0.5);
  EXPECT_EQ(text.number("d", -0.5, 2), 2);
  EXPECT_EQ(finish_error(text), "no error");
}

TEST(ParameterText, SaysWhichNumbersAreAllowed) {
  for (const char* value : {"-0.1", "1.1", "x", "nan", "inf", "1e999", "0.5s"}) {
    ParameterText text = parsed(std::string("p:q=") + value);
    EXPECT_EQ(text.number("q", 0, 1), 0) << "low end after an error";
    EXPECT_EQ(
        finish_error(text),
        std::string("p:q=") + value + ": q=" + value + " is not allowed; a number, 0 <= q <= 1");
  }
  ParameterText open = parsed("p:q=-1");
  open.number("q", 0, kInfinity);
  EXPECT_EQ(finish_error(open), "p:q=-1: q=-1 is not allowed; a number, q >= 0");
}

TEST(ParameterText, SaysWhatIsMissing) {
  ParameterText integer = parsed("gc");
  integer.integer("s", 0, 15);
  EXPECT_EQ(finish_error(integer), "gc: needs s= (an integer, 0 <= s <= 15)");
  ParameterText number = parsed("quantile");
  number.number("q", 0, 1);
  EXPECT_EQ(finish_error(number), "quantile: needs q= (a number, 0 <= q <= 1)");
}

TEST(ParameterText, OffersTheNearestWord) {
  ParameterText near = parsed("gc:code=cylic");
  EXPECT_EQ(near.word("code", kCodes, "repetition"), "repetition");
  EXPECT_EQ(finish_error(near), "gc:code=cylic: unknown code 'cylic'; did you mean 'cyclic'?");
  ParameterText far = parsed("gc:code=xyz");
  far.word("code", kCodes, "repetition");
  EXPECT_EQ(finish_error(far), "gc:code=xyz: unknown code 'xyz'; known: repetition, cyclic");
}

TEST(ParameterText, KeysNobodyAskedForAreErrors) {
  ParameterText near = parsed("m-sgc:lamda=2");
  near.integer("lambda", 0, 9, 1);
  EXPECT_EQ(finish_error(near), "m-sgc:lamda=2: unknown parameter 'lamda'; did you mean 'lambda'?");
  EXPECT_EQ(finish_error(parsed("uncoded:s=1")),
            "uncoded:s=1: unknown parameter 's'; uncoded takes no parameters");
}

TEST(ParameterText, AMistypedKeyIsNamedRatherThanTheRightOneMissing) {
  ParameterText text = parsed("gc:ss=3");
  text.integer("s", 0, 9);
  EXPECT_FALSE(text.ok());
  EXPECT_EQ(finish_error(text), "gc:ss=3: unknown parameter 'ss'; did you mean 's'?");
}

TEST(ParameterText, TheFirstErrorIsKept) {
  ParameterText text = parsed("gc:a=x,b=y");
  text.integer("b", 0, 1);
  text.integer("a", 0, 1);
  text.fail("a and b do not fit");
  EXPECT_EQ(finish_error(text), "gc:a=x,b=y: b=y is not allowed; an integer, 0 <= b <= 1");
}

TEST(ParameterText, TheCallersOwnErrorsCarryTheText) {
  ParameterText text = parsed("sr-sgc:B=1");
  text.integer("B", 1, 9);
  EXPECT_TRUE(text.ok());
  text.fail("W must be a multiple");
  EXPECT_FALSE(text.ok());
  EXPECT_EQ(finish_error(text), "sr-sgc:B=1: W must be a multiple");
  EXPECT_EQ(text.finish().error().code, ErrorCode::kInvalid);
}

TEST(ParameterText, TakesAnyTextWhereOneIsAskedFor) {
  ParameterText text = parsed("columns:worker=rank of it");
  EXPECT_EQ(text.text("worker", "id"), "rank of it");
  EXPECT_EQ(text.text("round", "step"), "step");
  EXPECT_TRUE(text.finish());
}

TEST(ToNumber, TakesWholeTextsOnly) {
  EXPECT_EQ(to_number("-1.5e3"), -1500.0);
  EXPECT_EQ(to_number("7"), 7.0);
  for (const char* text : {"", " 1", "1 ", "1,5", "1x", "+1", "--1", "e5"}) {
    EXPECT_EQ(to_number(text), std::nullopt) << "'" << text << "'";
  }
}

}  // namespace
}  // namespace paceline
