/* undercurve for C and C++: metrics, thresholds, exact pair sums with their gradients, and runs that train for AUROC, average precision or
 * partial AUC. Every function that returns int32_t returns 0, or a code of the list below; uc_last_error has the sentence. After
 * a code nothing that a pointer leads to has changed, but scratch. All functions can be called from any thread; calls on one
 * run or model wait for each other.
 *
 * Memory is the caller's: "need" functions say how much. No argument that is written to may overlap another. Pointers are aligned
 * to their type, and NULL only where it says so (or where there are 0 elements). Weights are NULL for 1 each; labels are 0 or 1. */
#ifndef UNDERCURVE_H
#define UNDERCURVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this file, which uc_abi_version gives, too. */
#define UC_ABI_VERSION 1

/* Codes keep their numbers. Those of the sizes and values: */
#define UC_OK 0
#define UC_LENGTH 1      /* an array has the wrong length */
#define UC_NON_FINITE 2  /* a value is NaN or infinite */
#define UC_LABEL 3       /* a label is neither 0 nor 1 */
#define UC_WEIGHT 4      /* a weight is no number of 0 or more */
#define UC_INDEX 5       /* an index does not fit what it selects from */
#define UC_ONE_CLASS 6   /* positives and negatives are both needed */
#define UC_EMPTY 7       /* an argument is empty */
#define UC_OVERFLOW 8    /* a result does not fit the number type */
#define UC_PARAM 9       /* a parameter is outside its range, or an unknown loss */
#define UC_UNREACHABLE 10 /* no threshold keeps the rule */
#define UC_UNSUPPORTED 11
#define UC_UNPROMISED 12  /* no threshold can be promised on these rows */
/* Saved runs and models (111 to 116), and a wrong method, setting, model or length: */
#define UC_NOT_OURS 111
#define UC_VERSION 112
#define UC_DAMAGED 113
#define UC_MODEL_ONLY 114
#define UC_MISMATCH 115
#define UC_RUN_ONLY 116
#define UC_CONFIG 121
#define UC_NOT_BUILT 122
/* Of this interface: */
#define UC_NULL 201      /* a pointer is NULL */
#define UC_ALIGNMENT 202 /* a pointer is not aligned to its type */
#define UC_OVERLAP 203   /* what is written overlaps another argument */
#define UC_SIZE 204      /* a length that no memory has */
#define UC_TEXT 205      /* a text that is not UTF-8, or longer than 4095 bytes */
#define UC_CHOICE 206    /* a number or text that is none of the choices */
#define UC_HANDLE 207    /* no run or model has this number, or it is of the other kind */
#define UC_MEMORY 208    /* the copy of the rows does not fit the memory */
#define UC_BUG 299       /* a bug of this library */

uint32_t uc_abi_version(void);
/* The message of this thread's last code, cut to size bytes with a zero at its end; returns its length without the zero. text may
 * be NULL with a size of 0. */
size_t uc_last_error(char *text, size_t size);

/* Metrics of scores and labels. scratch has at least uc_metrics_need(rows) bytes. */
size_t uc_metrics_need(size_t rows); /* SIZE_MAX for more rows than they take */
int32_t uc_auroc_f32(const float *scores, const uint8_t *labels, const double *weights, size_t rows,
                     uint64_t *scratch, size_t scratch_bytes, double *value);
int32_t uc_auroc_f64(const double *scores, const uint8_t *labels, const double *weights, size_t rows,
                     uint64_t *scratch, size_t scratch_bytes, double *value);
int32_t uc_ap_f32(const float *scores, const uint8_t *labels, const double *weights, size_t rows,
                  uint64_t *scratch, size_t scratch_bytes, double *value);
int32_t uc_ap_f64(const double *scores, const uint8_t *labels, const double *weights, size_t rows,
                  uint64_t *scratch, size_t scratch_bytes, double *value);
/* The mean true-positive rate over the false-positive rates from low to high. */
int32_t uc_pauc_f32(const float *scores, const uint8_t *labels, const double *weights, size_t rows, double low, double high,
                    uint64_t *scratch, size_t scratch_bytes, double *value);
int32_t uc_pauc_f64(const double *scores, const uint8_t *labels, const double *weights, size_t rows, double low, double high,
                    uint64_t *scratch, size_t scratch_bytes, double *value);

/* A threshold by a rule, midway between two scores: decision[0], from which up a score is decided positive (infinite where none is,
 * -infinite where all are), then true positives, false positives, true negatives and false negatives, by weight.
 * rule: "fpr<=0.05", "precision>=0.8", "recall>=0.9"; with "@90%" behind it on other rows like these, in 90 of 100 choices (else
 * UC_UNPROMISED); "alerts<=100", "alerts<=1%", "youden", "f1", "mcc", "costs:1:5", "costs:1:5:0.02", or a score. clusters: equal numbers for
 * rows of one cluster, of which only whole ones are independent, or NULL. Scratch as above. */
int32_t uc_decide_f32(const char *rule, const float *scores, const uint8_t *labels, const double *weights, const uint32_t *clusters,
                      size_t rows, uint64_t *scratch, size_t scratch_bytes, double decision[5]);
int32_t uc_decide_f64(const char *rule, const double *scores, const uint8_t *labels, const double *weights, const uint32_t *clusters,
                      size_t rows, uint64_t *scratch, size_t scratch_bytes, double decision[5]);

/* Exact sums over all pairs of a positive and another row, and their derivative by every score. */
#define UC_SUM_AUC 0  /* the mean loss of the pairs */
#define UC_SUM_AP 1   /* minus a smooth average precision */
#define UC_SUM_PAUC 2 /* as UC_SUM_AUC, of the negatives from rate low to high; tpr: the least true-positive rate, or 0 */
/* loss: "square", "squared-hinge", "hinge", "ramp" (param is the margin), "logistic", "sigmoid", "exponential" (the scale),
 * "smoothed-hinge" (the smoothing). low, high and tpr are looked at for UC_SUM_PAUC only. */
int32_t uc_pairs_need_f32(uint32_t sum, const char *loss, double param, size_t rows, size_t positives, int32_t weighted,
                          size_t *scratch_bytes);
int32_t uc_pairs_need_f64(uint32_t sum, const char *loss, double param, size_t rows, size_t positives, int32_t weighted,
                          size_t *scratch_bytes);
int32_t uc_pairs_f32(uint32_t sum, double low, double high, double tpr, const char *loss, double param, const float *scores,
                     const uint8_t *labels, const double *weights, size_t rows, uint64_t *scratch, size_t scratch_bytes,
                     double *value, float *grad);
int32_t uc_pairs_f64(uint32_t sum, double low, double high, double tpr, const char *loss, double param, const double *scores,
                     const uint8_t *labels, const double *weights, size_t rows, uint64_t *scratch, size_t scratch_bytes,
                     double *value, double *grad);
/* Values and slopes of a loss at so many margins. */
int32_t uc_surrogate(const char *loss, double param, const double *margins, size_t count, double *values, double *slopes);

#ifndef UC_STATELESS /* what a library built without runs does not have */
/* Any metric by its name: found[0], and its 95 % interval found[1] to found[2], NAN where there are none. name: "auroc",
 * "mcclish:0.1", "precision-at:2%", "f1:0.5", "ndcg:10", "gap(tpr)" and others (core/METRICS.md).
 * clusters: equal numbers for rows of one cluster, of which only whole ones are independent; queries, groups: the number of the query and of the
 * group of each row (groups from 0); each may be NULL. */
int32_t uc_metric_f32(const char *name, const float *scores, const uint8_t *labels, const double *weights, const uint32_t *clusters,
                      const uint32_t *queries, const uint32_t *groups, size_t rows, double found[3]);
int32_t uc_metric_f64(const char *name, const double *scores, const uint8_t *labels, const double *weights, const uint32_t *clusters,
                      const uint32_t *queries, const uint32_t *groups, size_t rows, double found[3]);
/* A metric of two scores of the same rows: that of each, the first less the second, its 95 % interval, and how often scores that are equally good
 * differ by as much or more (NAN where the rows do not tell). Of "auroc", "ap", "pauc", "mcclish", "precision-at" and "recall-at". */
int32_t uc_compare_f32(const char *name, const float *scores, const float *b, const uint8_t *labels, const double *weights,
                       const uint32_t *clusters, size_t rows, double found[6]);
int32_t uc_compare_f64(const char *name, const double *scores, const double *b, const uint8_t *labels, const double *weights,
                       const uint32_t *clusters, size_t rows, double found[6]);

/* Runs (of a method) and models are numbers from 1 on, which are not used again. x is dense, row after row; it is copied.
 * method: "soap", "ap-exact", ... ; model: "linear" or "mlp:64,32"; settings: "lr = 0.1; steps = 500" or lines, may be "", with
 * "fpr = 0:0.3" for the false-positive rates of partial AUC (0:0.05 without). */
int32_t uc_trainer_new(const float *x, size_t rows, size_t columns, const uint8_t *labels, const double *weights,
                       const char *method, const char *model, const char *settings, uint64_t seed, uint32_t *trainer);
/* Goes so many steps, or to the end; left: steps after that. */
int32_t uc_trainer_steps(uint32_t trainer, uint64_t steps, uint64_t *left);
/* The whole run, and the model alone: as a file every language reads it (its columns are x1, x2, ...). With bytes NULL only count is written. */
int32_t uc_trainer_save(uint32_t trainer, uint8_t *bytes, size_t room, size_t *count);
int32_t uc_trainer_model(uint32_t trainer, uint8_t *bytes, size_t room, size_t *count);
/* Goes on with a saved run, on the rows that it had. */
int32_t uc_trainer_load(const float *x, size_t rows, size_t columns, const uint8_t *labels, const double *weights,
                        const uint8_t *saved, size_t size, uint32_t *trainer);
/* A model of a model file (of any of the packages), a saved model or a saved run. */
int32_t uc_model_load(const uint8_t *saved, size_t size, uint32_t *model);

/* Of runs and models. scores has rows times the scores of a row. */
int32_t uc_shape(uint32_t handle, size_t *columns, size_t *scores_of_a_row);
int32_t uc_params(uint32_t handle, float *params, size_t room, size_t *count);
int32_t uc_score(uint32_t handle, const float *x, size_t rows, size_t columns, float *scores, size_t count);
/* From which score up its model decides positive; NAN where the model has none, and of a run. */
int32_t uc_threshold(uint32_t handle, double *threshold);
int32_t uc_release(uint32_t handle);
#endif

#ifdef __wasm__ /* the host's way to memory of the module */
void *uc_alloc(size_t bytes);
void uc_free(void *memory, size_t bytes);
#endif

#ifdef __cplusplus
}
#endif
#endif
