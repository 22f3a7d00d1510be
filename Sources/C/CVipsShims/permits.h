#pragma once

// Blocks all loaders, and all that libvips does not trust, but what is permitted.
void cvips_block_others(void);
