#pragma once

// Blocks all loaders, and all savers that libvips does not trust.
void cvips_block_all(void);
