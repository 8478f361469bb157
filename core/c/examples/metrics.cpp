// Metrics of scores, a decision, and the slope of a loss, without a run.
#include <cstdint>
#include <cstdio>
#include <vector>
#include "undercurve.h"

int main() {
    const std::vector<double> scores{0.1, 0.4, 0.35, 0.8}, weights{1, 3, 1, 1};
    const std::vector<std::uint8_t> labels{0, 0, 1, 1};
    std::vector<std::uint64_t> scratch(uc_metrics_need(scores.size()) / 8 + 1);
    const double margin = 0.25;
    double auroc, ap, pauc, loss, slope, decision[5];
    std::int32_t code = uc_auroc_f64(scores.data(), labels.data(), weights.data(), 4, scratch.data(), scratch.size() * 8, &auroc);
    if (!code) code = uc_ap_f64(scores.data(), labels.data(), nullptr, 4, scratch.data(), scratch.size() * 8, &ap);
    if (!code) code = uc_pauc_f64(scores.data(), labels.data(), nullptr, 4, 0, 0.5, scratch.data(), scratch.size() * 8, &pauc);
    if (!code) code = uc_decide_f64("fpr<=0.5", scores.data(), labels.data(), nullptr, nullptr, 4, scratch.data(), scratch.size() * 8, decision);
    if (!code) code = uc_surrogate("squared-hinge", 1, &margin, 1, &loss, &slope);
    if (!code) std::printf("auroc %g ap %g pauc %g loss %g slope %g\n", auroc, ap, pauc, loss, slope);
    if (!code) std::printf("from %g up: %g right alerts, %g wrong\n", decision[0], decision[1], decision[2]);
    return code;
}
