#include "rt/actors/program/report_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rt {
namespace {

std::vector<ReportLine> read_all(ReportReader& reader) {
  std::vector<ReportLine> reports;
  while (auto report = reader.next()) reports.push_back(*std::move(report));
  return reports;
}

TEST(ReportReader, MakesOneReportOfEachLine) {
  ReportReader reader;
  reader.append("{\"step\": 0, \"loss\": 0.5, \"accuracy\": 1}\n{\"step\": 3, \"checkpoint\": \"step-3\"}\n");
  EXPECT_EQ(read_all(reader), (std::vector<ReportLine>{{.step = 0, .metrics = {{"accuracy", 1.0}, {"loss", 0.5}}},
                                                       {.step = 3, .checkpoint = "step-3"}}));
  EXPECT_EQ(reader.ignored(), IgnoredReports{});
  EXPECT_EQ(reader.take_complaint(), "");
}

TEST(ReportReader, WaitsForTheRestOfALine) {
  const std::string text = "{\"step\": 1, \"loss\": 0.25}\n";
  ReportReader reader;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    reader.append(text.substr(i, 1));
    ASSERT_EQ(reader.next(), std::nullopt);
  }
  reader.append("\n");
  EXPECT_EQ(reader.next(), (ReportLine{.step = 1, .metrics = {{"loss", 0.25}}}));
}

TEST(ReportReader, TakesALastLineWithoutNewlineOnceAllIsWritten) {
  ReportReader reader;
  reader.append("{\"step\": 1}\n{\"step\": 2}");
  EXPECT_EQ(read_all(reader).size(), 1);
  reader.finish();
  EXPECT_EQ(reader.next(), (ReportLine{.step = 2}));
}

TEST(ReportReader, IgnoresAndCountsAStepThatDoesNotGrow) {
  ReportReader reader;
  reader.append("{\"step\": 2}\n{\"step\": 2}\n{\"step\": 1}\n{\"step\": 3}\n");
  EXPECT_EQ(read_all(reader), (std::vector<ReportLine>{{.step = 2}, {.step = 3}}));
  EXPECT_EQ(reader.ignored(), (IgnoredReports{.repeated = 2}));
}

TEST(ReportReader, GoesOnBehindTheStepOfTheCheckpoint) {
  ReportReader reader(5);
  reader.append("{\"step\": 4}\n{\"step\": 5}\n{\"step\": 6}\n");
  EXPECT_EQ(read_all(reader), (std::vector<ReportLine>{{.step = 6}}));
  EXPECT_EQ(reader.ignored(), (IgnoredReports{.repeated = 2}));
}

TEST(ReportReader, ReadsTheNumbersThatPythonPrints) {
  ReportReader reader;
  reader.append("{\"step\": 1.0, \"a\": NaN, \"b\": -Infinity, \"c\": Infinity, \"d\": \"NaN\", \"e\": null}\n");
  const auto report = reader.next();
  ASSERT_TRUE(report);
  EXPECT_TRUE(std::isnan(report->metrics.at("a")));
  EXPECT_EQ(report->metrics.at("b"), -HUGE_VAL);
  EXPECT_EQ(report->metrics.at("c"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(report->metrics.at("d")));
  EXPECT_TRUE(std::isnan(report->metrics.at("e")));
}

TEST(ReportReader, TakesTheLargestStepThatIsDocumented) {
  ReportReader reader;
  reader.append("{\"step\": 9007199254740992}\n");
  EXPECT_EQ(reader.next(), (ReportLine{.step = std::uint64_t{1} << 53}));
}

TEST(ReportReader, LeavesNamesAloneThatLookLikeNumbers) {
  ReportReader reader;
  reader.append("{\"step\": 1, \"NaN rate\": 2, \"\\\"Infinity\\\\\": 3}\n");
  const auto report = reader.next();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->metrics, (Metrics{{"NaN rate", 2.0}, {"\"Infinity\\", 3.0}}));
}

TEST(ReportReader, LeavesOutAValueThatIsNoNumberAndSaysSoOnce) {
  ReportReader reader;
  reader.append("{\"step\": 1, \"note\": \"warm\", \"loss\": 2}\n{\"step\": 2, \"best\": true, \"all\": [1]}\n");
  EXPECT_EQ(read_all(reader), (std::vector<ReportLine>{{.step = 1, .metrics = {{"loss", 2.0}}}, {.step = 2}}));
  EXPECT_EQ(reader.ignored(), (IgnoredReports{.values = 3}));
  const std::string complaint = reader.take_complaint();
  EXPECT_NE(complaint.find("\"note\" is not a number"), std::string::npos) << complaint;
  EXPECT_EQ(complaint.find("best"), std::string::npos) << complaint;
  EXPECT_EQ(reader.take_complaint(), "");
}

struct BadLine {
  const char* name;
  const char* line;
  const char* says;
  friend std::ostream& operator<<(std::ostream& out, const BadLine& value) { return out << value.name; }
};

class ReportReaderIgnores : public ::testing::TestWithParam<BadLine> {};

TEST_P(ReportReaderIgnores, ALineThatIsNoReportAndShowsIt) {
  ReportReader reader;
  reader.append(std::string(GetParam().line) + "\n{\"step\": 9}\n");
  EXPECT_EQ(read_all(reader), (std::vector<ReportLine>{{.step = 9}}));
  EXPECT_EQ(reader.ignored(), (IgnoredReports{.malformed = 1}));
  const std::string complaint = reader.take_complaint();
  EXPECT_NE(complaint.find(GetParam().says), std::string::npos) << complaint;
  EXPECT_NE(complaint.find(GetParam().line), std::string::npos) << complaint;
}

INSTANTIATE_TEST_SUITE_P(Lines, ReportReaderIgnores,
                         ::testing::Values(BadLine{"Text", "epoch 1 done", "is not JSON"},
                                           BadLine{"Torn", "{\"step\": 1, \"lo", "is not JSON"},
                                           BadLine{"List", "[1, 2]", "is not a JSON object"},
                                           BadLine{"NoStep", "{\"loss\": 1}", "has no \"step\""},
                                           BadLine{"TextStep", "{\"step\": \"1\"}", "has no \"step\""},
                                           BadLine{"NegativeStep", "{\"step\": -1}", "has no \"step\""},
                                           BadLine{"HalfStep", "{\"step\": 1.5}", "has no \"step\""},
                                           BadLine{"NanStep", "{\"step\": NaN}", "has no \"step\""},
                                           BadLine{"HugeStep", "{\"step\": 1e300}", "has no \"step\""},
                                           // 2^64 - 1 and 2^53 + 1, the first number beyond the documented bound
                                           BadLine{"StepOf64Bits", "{\"step\": 18446744073709551615}", "to 2^53"},
                                           BadLine{"InexactStep", "{\"step\": 9007199254740993}", "to 2^53"}),
                         [](const auto& info) { return info.param.name; });

TEST(ReportReader, PassesOverALineOfMoreThanAMebibyteInBoundedPieces) {
  ReportReader reader;
  reader.append("{\"step\": 1}\n{\"step\": 2, \"x\": \"");
  EXPECT_EQ(read_all(reader).size(), 1);
  for (int i = 0; i < 64; ++i) {
    reader.append(std::string(1 << 16, 'x'));
    ASSERT_EQ(reader.next(), std::nullopt);
  }
  reader.append("\"}\n{\"step\": 3}\n");
  EXPECT_EQ(read_all(reader), (std::vector<ReportLine>{{.step = 3}}));
  EXPECT_EQ(reader.ignored(), (IgnoredReports{.malformed = 1}));
  const std::string complaint = reader.take_complaint();
  EXPECT_NE(complaint.find("is over 1 MiB"), std::string::npos);
  EXPECT_LT(complaint.size(), 500);
}

TEST(ReportReader, PassesOverEmptyLinesWithoutAWord) {
  ReportReader reader;
  reader.append("\n  \r\n{\"step\": 1}\r\n");
  EXPECT_EQ(read_all(reader).size(), 1);
  EXPECT_EQ(reader.ignored(), IgnoredReports{});
}

}  // namespace
}  // namespace rt
