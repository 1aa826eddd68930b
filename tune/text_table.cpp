#include "rt/tune/text_table.h"

#include <algorithm>
#include <numeric>

namespace rt::tune {
namespace {

constexpr std::size_t kGap = 2;

std::vector<std::size_t> natural_widths(const std::vector<Column>& columns,
                                        const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = display_width(columns[i].title);
    for (const auto& row : rows) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
         kGap * (widths.empty() ? 0 : widths.size() - 1);
}

// Takes from each column that may be narrowed what is too much.
void narrow(const std::vector<Column>& columns, std::vector<std::size_t>& widths, std::size_t width) {
  for (std::size_t i = 0; i < columns.size() && total(widths) > width; ++i) {
    if (columns[i].min_width == 0 || widths[i] <= columns[i].min_width) continue;
    widths[i] = std::max(columns[i].min_width, widths[i] - std::min(widths[i], total(widths) - width));
  }
}

std::string pad(const std::string& cell, std::size_t width, bool is_right) {
  const std::string text = shorten(cell, width);
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return is_right ? space + text : text + space;
}

}  // namespace

std::vector<std::string> render(std::vector<Column> columns, std::vector<std::vector<std::string>> rows,
                                std::size_t width) {
  for (auto& column : columns) column.title = printable(column.title);
  for (auto& row : rows) {
    for (auto& cell : row) cell = printable(cell);
  }
  std::vector<std::size_t> widths = natural_widths(columns, rows);
  narrow(columns, widths, width);
  while (total(widths) > width) {
    const auto dropped = std::ranges::max_element(columns, {}, &Column::priority);
    if (dropped == columns.end() || dropped->priority == 0) break;
    const auto index = dropped - columns.begin();
    for (auto& row : rows) row.erase(row.begin() + index);
    columns.erase(dropped);
    widths = natural_widths(columns, rows);
    narrow(columns, widths, width);
  }

  std::vector<std::string> titles;
  for (const Column& column : columns) titles.push_back(column.title);
  rows.insert(rows.begin(), std::move(titles));
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? "" : std::string(kGap, ' ')) + pad(row[i], widths[i], columns[i].is_right);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(shorten(line, width));
  }
  return lines;
}

}  // namespace rt::tune
