/* jvm.h - what threads call in jvm.cc. */
#ifndef TRC_TESTS_JVM_H
#define TRC_TESTS_JVM_H

#ifdef __cplusplus
extern "C" {
#endif

/* Each waits for so long. */
__attribute__((visibility("default"))) void jvm_enter(long ms);
__attribute__((visibility("default"))) void JVM_MonitorWait(long ms);

#ifdef __cplusplus
}
#endif

#endif
