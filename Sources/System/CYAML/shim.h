// libyaml for Swift: an event is a union, which is awkward to read from Swift.
#pragma once

#include <stddef.h>
#include <string.h>
#include <yaml.h>

/// The kinds of events; `text` belongs to the event.
enum cyaml_kind {
    CYAML_END,
    CYAML_SCALAR,
    CYAML_LIST,
    CYAML_MAP,
    CYAML_CLOSE,
    CYAML_ALIAS,
    CYAML_DOCUMENT,
    CYAML_OTHER,
};

/// An event with its position, counted from 1.
struct cyaml_step {
    enum cyaml_kind kind;
    int is_tagged;
    const char *text;
    size_t length;
    size_t line;
    size_t column;
};

static inline enum cyaml_kind cyaml_kind_of(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_STREAM_END_EVENT: return CYAML_END;
    case YAML_SCALAR_EVENT: return CYAML_SCALAR;
    case YAML_SEQUENCE_START_EVENT: return CYAML_LIST;
    case YAML_MAPPING_START_EVENT: return CYAML_MAP;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return CYAML_CLOSE;
    case YAML_ALIAS_EVENT: return CYAML_ALIAS;
    case YAML_DOCUMENT_START_EVENT: return CYAML_DOCUMENT;
    default: return CYAML_OTHER;
    }
}

static inline struct cyaml_step cyaml_read(const yaml_event_t *event) {
    struct cyaml_step step = {
        .kind = cyaml_kind_of(event),
        .line = event->start_mark.line + 1,
        .column = event->start_mark.column + 1,
    };
    if (step.kind == CYAML_SCALAR) {
        step.text = (const char *)event->data.scalar.value;
        step.length = event->data.scalar.length;
        step.is_tagged = event->data.scalar.tag != NULL;
    }
    if (step.kind == CYAML_LIST) step.is_tagged = event->data.sequence_start.tag != NULL;
    if (step.kind == CYAML_MAP) step.is_tagged = event->data.mapping_start.tag != NULL;
    return step;
}
