#pragma once

// Starts libvips without the modules next to it, or, if there are none there, with those that it
// finds itself. Returns 0 or the error of `vips_init`.
int cvips_init_without_modules(const char *program);

// Loads the module of that name, such as `heif`. No effect if it doesn't exist; a warning is logged
// if it can't be loaded.
void cvips_load_module(const char *name);
