/* Every thread has its own last message, also while others get theirs, and exceptions pass between the calls. */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "undercurve.h"

int main() {
    std::vector<std::thread> threads;
    std::vector<int> wrong(8);
    for (uint32_t k = 0; k < 8; k++) {
        threads.emplace_back([k, &wrong] {
            const std::string expected = "there is no sum " + std::to_string(1000 + k);
            for (int round = 0; round < 500; round++) {
                size_t need;
                char text[64];
                try {
                    if (uc_pairs_need_f64(1000 + k, "hinge", 1.0, 4, 2, 0, &need) != UC_CHOICE) wrong[k]++;
                    uc_last_error(text, sizeof text);
                    throw std::runtime_error(text);
                } catch (const std::exception &told) {
                    if (told.what() != expected) wrong[k]++;
                }
            }
        });
    }
    int all = 0;
    for (auto &thread : threads) thread.join();
    for (int one : wrong) all += one;
    std::printf("%d wrong messages\n", all);
}
