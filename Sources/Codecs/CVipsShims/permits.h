#pragma once

// Blocks all loaders, and all operations that libvips doesn't trust, except the permitted ones.
void cvips_block_others(void);
