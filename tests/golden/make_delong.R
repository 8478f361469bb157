# Writes delong.json: p-values of DeLong's test for two correlated ROC curves by pROC, of rows that are made here.
# Rscript tests/golden/make_delong.R > tests/golden/delong.json     (R 4.2.2, pROC 1.18.0)
suppressMessages(library(pROC))
# Scores to two digits, so that some tie; by a linear congruential generator that needs no more than 53 bits.
state <- 20240607
draw <- function() { state <<- (state * 16807) %% 2147483647; state / 2147483647 }
normal <- function() sqrt(-2 * log(draw())) * cos(2 * pi * draw())
case <- function(rows, apart) {
    y <- integer(rows); a <- numeric(rows); b <- numeric(rows)
    for (row in 1:rows) {
        y[row] <- as.integer(draw() < 0.3)
        common <- normal()
        a[row] <- round(common + normal() + apart[1] * y[row], 2)
        b[row] <- round(common + normal() + apart[2] * y[row], 2)
    }
    test <- roc.test(roc(y, a, direction = "<", quiet = TRUE), roc(y, b, direction = "<", quiet = TRUE), method = "delong", paired = TRUE)
    number <- function(x) sprintf("%.17g", x)
    list <- function(x) paste0("[", paste(x, collapse = ", "), "]")
    sprintf('{"labels": %s, "a": %s, "b": %s, "aurocs": %s, "z": %s, "p": %s}', list(y), list(a), list(b),
        list(number(test$estimate)), number(test$statistic), number(test$p.value))
}
cases <- c(case(40, c(1.5, 0.5)), case(120, c(1, 1)), case(120, c(2.5, 0)), case(60, c(0.3, 0.9)))
cat(sprintf('{"by": "pROC %s, R %s", "cases": [\n%s\n]}\n', packageVersion("pROC"), getRversion(), paste(cases, collapse = ",\n")))
