internal import CPNGFilters

/// How PNG rows are filtered before compression (PNG 1.2, 6).
public enum PNGFilter: Sendable {
    /// Unfiltered: any filter makes drawings with few colors larger.
    case none
    /// For each row, whichever of Sub, Up and Paeth yields the smallest values; suits photographs.
    case adaptive

    /// Filters rows.
    ///
    /// - Parameters:
    ///   - rows: `count` rows, `stride` bytes apart.
    ///   - above: the row before the first one, as long as a row; `nil` at the top.
    ///   - columns: the bytes per row.
    ///   - step: the bytes per pixel.
    ///   - filtered: receives 1 + `columns` bytes per row: the filter number, then the filtered
    ///     bytes.
    public func apply(
        to rows: UnsafeRawBufferPointer, above: UnsafeRawPointer?, count: Int, columns: Int,
        stride: Int, step: Int, into filtered: UnsafeMutableRawBufferPointer
    ) {
        precondition(
            count >= 0 && columns > 0 && step > 0 && stride >= columns
                && rows.count >= (count == 0 ? 0 : (count - 1) * stride + columns)
                && filtered.count >= count * (columns + 1), "rows must lie within their memory")
        guard count > 0, let source = rows.baseAddress, let target = filtered.baseAddress else {
            return
        }
        withUnsafeTemporaryAllocation(byteCount: 2 * columns + 1, alignment: 64) { spare in
            let zeros = UnsafeMutableRawBufferPointer(rebasing: spare[(columns + 1)...])
            zeros.initializeMemory(as: UInt8.self, repeating: 0)
            guard let scratch = spare.baseAddress, let zero = zeros.baseAddress else { return }
            for index in 0..<count {
                let row = source + index * stride
                let out = target + index * (columns + 1)
                switch self {
                case .none: cpng_filter_none(row, columns, out)
                case .adaptive:
                    let before = index == 0 ? above ?? UnsafeRawPointer(zero) : row - stride
                    cpng_filter_adaptive(row, before, columns, step, out, scratch)
                }
            }
        }
    }
}
