#pragma once

// Starts libvips, without the modules that lie beside it; where none lie there, with those that it
// finds itself. 0, or what `vips_init` answers.
int cvips_init_without_modules(const char *program);

// Loads the module of that name, such as `heif`. Nothing where there is none; a warning where it
// cannot be loaded.
void cvips_load_module(const char *name);
