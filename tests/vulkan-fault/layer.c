/* A Vulkan layer that makes a driver fail, for tests of what a program does then.
 *
 * UNDERCURVE_FAULT names the fault, UNDERCURVE_FAULT_AFTER how many calls go well before it (0 if it is not set):
 *
 *   lose     waits for the device; from then on every wait, submission and query answers that the device is lost
 *   stall    waits for the device; from then on every wait answers that its time is over, and nothing is ever done
 *   refuse   builds of compute pipelines; from then on every one of them fails
 *   drop     all dispatches: none is given to the driver, and nothing else changes. That is an infinitely fast device, so what
 *            still takes time is the host's doing. (But of each pipeline of an entry point `forward` the first one is made:
 *            the host goes on by what it answers.)
 *
 * The few types of the loader's interface that are needed stand here, so the Vulkan headers are not. Instances and
 * devices are taken to be made one after another, the last being the one that is used. */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t Result;
enum { SUCCESS = 0, NOT_READY = 1, TIMEOUT = 2, INITIALIZATION_FAILED = -3, DEVICE_LOST = -4 };

typedef void (*Function)(void);
typedef Function (*Lookup)(void *handle, const char *name);

/* What the loader hands to a layer: the next one's lookups, in a list that each layer moves on. (Of an instance, the
 * second lookup is another one, which this layer does not use.) */
struct link {
    struct link *next;
    Lookup instance_lookup;
    Lookup device_lookup;
};
struct chain {
    int32_t type;
    const struct chain *next;
    int32_t function;
    struct link *link;
};
enum { INSTANCE_CHAIN = 47, DEVICE_CHAIN = 48, LINK_INFO = 0 };

static Lookup instance_lookup, device_lookup;
static void *last_instance;

/* The link in the `next` list of a creation's info, taken off for whoever comes after. */
static struct link *take_link(const struct chain *info, int32_t type) {
    const struct chain *at = info->next;
    while (at && !(at->type == type && at->function == LINK_INFO)) at = at->next;
    if (!at) return NULL;
    struct link *link = at->link;
    ((struct chain *)at)->link = link->next;
    return link;
}

/* Whether the fault of this name is there; a call that `counts` uses up one of those that go well. */
static int fault(const char *name, int counts) {
    static atomic_long well = -1;
    const char *asked = getenv("UNDERCURVE_FAULT"), *after = getenv("UNDERCURVE_FAULT_AFTER");
    if (!asked || strcmp(asked, name) != 0) return 0;
    long unset = -1;
    atomic_compare_exchange_strong(&well, &unset, after ? atol(after) : 0);
    long left = atomic_load(&well);
    if (left == 0) return 1;
    if (counts) atomic_store(&well, left - 1);
    return 0;
}

static Result waited(Result answer) {
    if (fault("stall", 1)) return TIMEOUT;
    return fault("lose", 1) ? DEVICE_LOST : answer;
}

/* Each function of the device that fails, and the driver's own. */
static Result (*next_wait_semaphores)(void *, const void *, uint64_t);
static Result wait_semaphores(void *device, const void *info, uint64_t limit) {
    return waited(next_wait_semaphores(device, info, limit));
}

static Result (*next_wait_fences)(void *, uint32_t, const uint64_t *, uint32_t, uint64_t);
static Result wait_fences(void *device, uint32_t count, const uint64_t *fences, uint32_t all, uint64_t limit) {
    return waited(next_wait_fences(device, count, fences, all, limit));
}

static Result (*next_semaphore_value)(void *, uint64_t, uint64_t *);
static Result semaphore_value(void *device, uint64_t semaphore, uint64_t *value) {
    static uint64_t last, whose;
    if (fault("lose", 0)) return DEVICE_LOST;
    if (fault("stall", 0)) {
        /* That of a device made since then has never moved. */
        *value = semaphore == whose ? last : 0;
        return SUCCESS;
    }
    Result result = next_semaphore_value(device, semaphore, value);
    if (result == SUCCESS) last = *value, whose = semaphore;
    return result;
}

static Result (*next_fence_status)(void *, uint64_t);
static Result fence_status(void *device, uint64_t fence) {
    if (fault("lose", 0)) return DEVICE_LOST;
    return fault("stall", 0) ? NOT_READY : next_fence_status(device, fence);
}

static Result (*next_submit)(void *, uint32_t, const void *, uint64_t);
static Result submit(void *queue, uint32_t count, const void *work, uint64_t fence) {
    return fault("lose", 0) ? DEVICE_LOST : next_submit(queue, count, work, fence);
}

static Result (*next_idle)(void *);
static Result idle(void *queue) {
    return fault("lose", 0) ? DEVICE_LOST : next_idle(queue);
}

/* Whether dispatches are dropped, and the pipelines whose first one is not. */
enum { PIPELINES = 1024 };
static struct { uint64_t pipeline; int made; } kept[PIPELINES];
static size_t all_kept;
static uint64_t bound;

static int drops(void) {
    static int asked = -1;
    if (asked < 0) {
        const char *fault = getenv("UNDERCURVE_FAULT");
        asked = fault && !strcmp(fault, "drop");
    }
    return asked;
}

/* A handle may be one of before. */
static void keep(uint64_t pipeline, int first) {
    for (size_t k = 0; k < all_kept; k++) {
        if (kept[k].pipeline == pipeline) kept[k].made = 1;
    }
    if (first && all_kept < PIPELINES) {
        kept[all_kept].pipeline = pipeline;
        kept[all_kept++].made = 0;
    }
}

static void (*next_bind)(void *, int32_t, uint64_t);
static void bind(void *commands, int32_t point, uint64_t pipeline) {
    bound = pipeline;
    next_bind(commands, point, pipeline);
}

static void (*next_dispatch)(void *, uint32_t, uint32_t, uint32_t);
static void dispatch(void *commands, uint32_t x, uint32_t y, uint32_t z) {
    int made = !drops();
    for (size_t k = all_kept; !made && k > 0; k--) {
        if (kept[k - 1].pipeline != bound) continue;
        if (kept[k - 1].made) return;
        made = kept[k - 1].made = 1;
    }
    if (made) next_dispatch(commands, x, y, z);
}

struct pipeline_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    struct {
        int32_t type;
        const void *next;
        uint32_t flags, stage;
        uint64_t module;
        const char *name;
        const void *constants;
    } stage;
    uint64_t layout, base;
    int32_t base_at;
};

static Result (*next_pipelines)(void *, uint64_t, uint32_t, const void *, const void *, uint64_t *);
static Result pipelines(void *device, uint64_t cache, uint32_t count, const void *infos, const void *memory,
                        uint64_t *made) {
    if (!fault("refuse", 1)) {
        Result result = next_pipelines(device, cache, count, infos, memory, made);
        const struct pipeline_info *info = infos;
        for (uint32_t k = 0; drops() && result == SUCCESS && k < count; k++) {
            keep(made[k], !strcmp(info[k].stage.name, "forward"));
        }
        return result;
    }
    memset(made, 0, count * sizeof *made);
    return INITIALIZATION_FAILED;
}

static const struct {
    const char *name;
    Function own;
    Function *next;
} functions[] = {
    {"vkWaitSemaphores", (Function)wait_semaphores, (Function *)&next_wait_semaphores},
    {"vkWaitSemaphoresKHR", (Function)wait_semaphores, (Function *)&next_wait_semaphores},
    {"vkWaitForFences", (Function)wait_fences, (Function *)&next_wait_fences},
    {"vkGetSemaphoreCounterValue", (Function)semaphore_value, (Function *)&next_semaphore_value},
    {"vkGetSemaphoreCounterValueKHR", (Function)semaphore_value, (Function *)&next_semaphore_value},
    {"vkGetFenceStatus", (Function)fence_status, (Function *)&next_fence_status},
    {"vkQueueSubmit", (Function)submit, (Function *)&next_submit},
    {"vkQueueWaitIdle", (Function)idle, (Function *)&next_idle},
    {"vkCmdBindPipeline", (Function)bind, (Function *)&next_bind},
    {"vkCmdDispatch", (Function)dispatch, (Function *)&next_dispatch},
    {"vkCreateComputePipelines", (Function)pipelines, (Function *)&next_pipelines},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

__attribute__((visibility("default"))) Function vkGetDeviceProcAddr(void *device, const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (Function)vkGetDeviceProcAddr;
    Function next = device_lookup ? device_lookup(device, name) : NULL;
    for (size_t k = 0; next && k < FUNCTIONS; k++) {
        if (!strcmp(name, functions[k].name)) {
            *functions[k].next = next;
            return functions[k].own;
        }
    }
    return next;
}

static Result create_instance(const struct chain *info, const void *memory, void **instance) {
    struct link *link = take_link(info, INSTANCE_CHAIN);
    if (!link) return INITIALIZATION_FAILED;
    instance_lookup = link->instance_lookup;
    Result (*create)(const void *, const void *, void **) =
        (Result(*)(const void *, const void *, void **))instance_lookup(NULL, "vkCreateInstance");
    Result result = create(info, memory, instance);
    if (result == SUCCESS) last_instance = *instance;
    return result;
}

static Result create_device(void *adapter, const struct chain *info, const void *memory, void **device) {
    struct link *link = take_link(info, DEVICE_CHAIN);
    if (!link) return INITIALIZATION_FAILED;
    device_lookup = link->device_lookup;
    Result (*create)(void *, const void *, const void *, void **) =
        (Result(*)(void *, const void *, const void *, void **))link->instance_lookup(last_instance, "vkCreateDevice");
    return create(adapter, info, memory, device);
}

__attribute__((visibility("default"))) Function vkGetInstanceProcAddr(void *instance, const char *name) {
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (Function)vkGetInstanceProcAddr;
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (Function)vkGetDeviceProcAddr;
    if (!strcmp(name, "vkCreateInstance")) return (Function)create_instance;
    if (!strcmp(name, "vkCreateDevice")) return (Function)create_device;
    return instance_lookup ? instance_lookup(instance, name) : NULL;
}
