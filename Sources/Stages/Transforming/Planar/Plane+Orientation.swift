import ImageModel

extension Plane {
    /// The samples as they are displayed.
    func displayed(_ orientation: Orientation) -> Plane {
        guard !orientation.isUpright else { return self }
        let turned = Plane(orientation.displayed(size), depth: depth)
        // Of the displayed image: how far from one column, and from one row, to the next in what
        // is stored, and where its first pixel lies.
        var (column, row) = orientation.transposes ? (stride, depth) : (depth, stride)
        var start = 0
        if orientation.mirrorsHorizontally {
            start += (turned.size.width - 1) * column
            column.negate()
        }
        if orientation.mirrorsVertically {
            start += (turned.size.height - 1) * row
            row.negate()
        }
        switch depth {
        case 1: copy(UInt8.self, to: turned, from: start, column: column, row: row)
        default: copy(UInt16.self, to: turned, from: start, column: column, row: row)
        }
        return turned
    }

    private func copy<Sample: BitwiseCopyable>(
        _ type: Sample.Type, to target: Plane, from start: Int, column: Int, row: Int
    ) {
        for y in 0..<target.size.height {
            var source = base + start + y * row
            let out = (target.mutableBase + y * target.stride).assumingMemoryBound(to: type)
            for x in 0..<target.size.width {
                out[x] = source.load(as: type)
                source += column
            }
        }
    }
}
