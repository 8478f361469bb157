/* From data to a trained model, its average precision, and an exact gradient. */
#include <stdio.h>
#include <stdlib.h>
#include "undercurve.h"

#define ROWS 200
#define COLUMNS 3

static void check(int32_t code) {
    char text[256];
    if (code == UC_OK) return;
    uc_last_error(text, sizeof text);
    fprintf(stderr, "code %d: %s\n", (int)code, text);
    exit(1);
}

int main(void) {
    float x[ROWS * COLUMNS], scores[ROWS], grad[ROWS];
    uint8_t labels[ROWS];
    for (uint32_t k = 0, random = 1; k < ROWS * COLUMNS; k++) {
        random = random * 1664525u + 1013904223u;
        labels[k / COLUMNS] = k / COLUMNS % 10 == 0;
        x[k] = (float)(random >> 16) / 65536.0f + (labels[k / COLUMNS] && k % COLUMNS == 0 ? 0.5f : 0.0f);
    }

    uint32_t trainer;
    uint64_t left;
    check(uc_trainer_new(x, ROWS, COLUMNS, labels, NULL, "soap", "linear", "lr = 0.02; steps = 300; pretrain = 100", 1, &trainer));
    check(uc_trainer_steps(trainer, UINT64_MAX, &left));
    check(uc_score(trainer, x, ROWS, COLUMNS, scores, ROWS));
    check(uc_release(trainer));

    double ap, value;
    size_t need;
    check(uc_pairs_need_f32(UC_SUM_AP, "squared-hinge", 1.0, ROWS, 20, 0, &need));
    if (need < uc_metrics_need(ROWS)) need = uc_metrics_need(ROWS);
    uint64_t *scratch = malloc(need);
    check(uc_ap_f32(scores, labels, NULL, ROWS, scratch, need, &ap));
    check(uc_pairs_f32(UC_SUM_AP, 0, 1, 0, "squared-hinge", 1.0, scores, labels, NULL, ROWS, scratch, need, &value, grad));
    free(scratch);

    uint32_t hash = 2166136261u; /* of the bits of the gradient */
    for (size_t k = 0; k < sizeof grad; k++) hash = (hash ^ ((uint8_t *)grad)[k]) * 16777619u;
    printf("ap %.17g objective %.17g gradient %08x\n", ap, value, (unsigned)hash);
    return 0;
}
