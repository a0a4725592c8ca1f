#include "agent/journal/state.hpp"

#include <algorithm>

namespace idletune::journal {

void State::for_each_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const {
  visit_values<Measurement>(measurements_, first_of(key), 4, visit);
}

void State::for_each_measurement(const MeasurementVisitor& visit) const {
  visit_values<Measurement>(measurements_, {}, 0, visit);
}

std::optional<Measurement> State::measurement(const TrialKey& key) const {
  return decode_entry<Measurement>(measurements_, key);
}

std::optional<std::chrono::nanoseconds> State::time_of(const Measurement& measurement,
                                                       std::chrono::nanoseconds untuned) const {
  const TrialStatus status = measurement.status;
  if (is_death(status) && !dangers_.is_quarantined(measurement.trial)) return std::nullopt;
  if (status != TrialStatus::correct) return std::chrono::nanoseconds{0};
  const auto then = static_cast<double>(measurement.default_time.count());
  if (then <= 0 || untuned.count() <= 0) return measurement.median;
  const double ns = static_cast<double>(measurement.median.count()) *
                    (static_cast<double>(untuned.count()) / then);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(ns, 9.0e18)));
}

void State::for_each_shape_of(const TrialKey& key, const MeasurementVisitor& visit) const {
  measurements_.for_each(key, 2, [&](const Table::Row& row) {
    TrialKey there = key;
    there.shape = row.first.shape;
    Measurement value;
    if (row.first == there && decode(row.second.payload, value)) visit(value);
  });
}

std::size_t State::measurement_count(const ShapeKey& key) const {
  const auto group = groups_.find(key);
  return group == groups_.end() ? 0 : group->second.count;
}

std::optional<Adoption> State::adoption(const ShapeKey& key) const {
  auto adoption = decode_entry<Adoption>(adoptions_, first_of(key));
  if (!adoption) return adoption;
  split_driver(adoption->trial, names_);
  if (dangers_.is_quarantined(adoption->trial)) adoption.reset();
  return adoption;
}

std::optional<Adoption> State::stale_adoption(const ShapeKey& key) const {
  const Table::Row* newest = nullptr;
  adoptions_.for_each(first_of(key), 3, [&](const Table::Row& row) {
    if (row.first.driver == key.driver) return;
    if (newest == nullptr || is_older(newest->second, row.second)) newest = &row;
  });
  if (newest == nullptr) return std::nullopt;
  return decode_entry<Adoption>(adoptions_, newest->first);
}

void State::for_each_demotion(const ShapeKey& key, const Visitor<const Demotion&>& visit) const {
  visit_values<Demotion>(demotions_, first_of(key), 4, visit);
}

void State::for_each_adoption(const Visitor<const Adoption&>& visit) const {
  visit_values<Adoption>(adoptions_, {}, 0, visit);
}

std::optional<ShapeStatistics> State::shape_statistics(std::uint64_t kernel,
                                                       const Shape& shape) const {
  return decode_entry<ShapeStatistics>(statistics_, statistics_key(kernel, shape));
}

std::optional<Name> State::name(NameKind kind, std::uint64_t digest) const {
  return decode_entry<Name>(names_, name_key(kind, digest));
}

}  // namespace idletune::journal
