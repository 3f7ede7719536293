/*
 * versions.h - definitions that must carry a symbol version.
 *
 * An unversioned definition binds to every reference, also to a reference of an old version, whose
 * object has another layout.  So where a name has two versions (names.h), both are defined, with
 * the version nodes of libtrc.map.  The functions themselves are named trc_versioned_*, which the
 * map makes local.
 */
#ifndef TRC_RECORDER_INTERPOSE_VERSIONS_H
#define TRC_RECORDER_INTERPOSE_VERSIONS_H

#ifdef __x86_64__
#define TRC_VERSIONED(name) trc_versioned_##name
#define TRC_CURRENT_VERSION(name, version)                                                         \
	__asm__(".symver trc_versioned_" #name "," #name "@@" version)
#define TRC_CURRENT_ALIAS(alias_name, name, version)                                               \
	__asm__(".symver trc_versioned_" #alias_name "," #name "@@" version)
#define TRC_OLD_VERSION(old_name, name, version)                                                   \
	__asm__(".symver trc_versioned_" #old_name "," #name "@" version)
#else
#define TRC_VERSIONED(name)		   name
#define TRC_CURRENT_VERSION(name, version) _Static_assert(1, "")
#endif

#endif
