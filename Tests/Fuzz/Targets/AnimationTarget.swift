import Model

/// Untrusted files that are scanned for frames.
enum AnimationTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        guard let map = AnimationMap(bytes.span, framesMax: 50) else { return }
        try check(map, bytes.count)
        try checkParts(of: bytes, map)
        try draw(map)
    }

    private static func check(_ map: AnimationMap, _ count: Int) throws(BrokenInvariant) {
        try expect(map.canvas.isPositive, "a canvas has pixels")
        try expect(map.frames.count <= 50, "no more frames are found than wanted")
        try expect(map.loops >= 0, "loops are counted")
        for part in map.shared + map.frames.flatMap(\.parts) {
            try expect(
                part.lowerBound >= 0 && part.upperBound <= count, "a part lies in the file")
        }
        for frame in map.frames {
            try expect(!frame.parts.isEmpty, "a frame has bytes")
            let size = frame.area.size
            try expect(min(size.width, size.height) >= 0, "a frame has a size")
            try expect(size.isPositive || map.format == .gif, "only GIFs have empty frames")
            try expect(frame.area.x >= 0 && frame.area.y >= 0, "a frame has a place")
            try expect(frame.duration >= 11_000, "a frame can be seen")
        }
    }

    /// As more bytes arrive, the number of frames never falls.
    private static func checkParts(
        of bytes: [UInt8], _ whole: AnimationMap
    ) throws(BrokenInvariant) {
        var frames = 0
        for tenth in 1...9 {
            let count = bytes.count * tenth / 10
            guard let map = AnimationMap(bytes.span.extracting(first: count), framesMax: 50) else {
                continue
            }
            try expect(map.frames.count >= frames, "the number of frames never falls")
            frames = map.frames.count
            try expect(map.canvas == whole.canvas, "the canvas stays as it is")
        }
        try expect(whole.frames.count >= frames, "the number of frames never falls")
    }

    /// Draws every frame twice, forwards and backwards, each with a single color.
    private static func draw(_ map: AnimationMap) throws(BrokenInvariant) {
        let sizes = map.frames.map(\.area.size) + [map.canvas]
        guard sizes.allSatisfy({ max($0.width, $0.height) <= 64 }) else { return }
        var canvas = FrameCanvas(map)
        var shown: [Int: [UInt8]] = [:]
        for index in Array(map.frames.indices) + map.frames.indices.reversed() {
            let pixels = canvas.show(index) { frame in
                let size = map.frames[frame].area.size
                return [UInt8](
                    repeating: UInt8(truncatingIfNeeded: 37 * frame + 1),
                    count: 4 * size.width * size.height)
            }
            try expect(
                pixels.count == 4 * map.canvas.width * map.canvas.height,
                "a frame is as large as the canvas")
            try expect(
                shown[index].map { $0 == pixels } ?? true, "a frame is the same at any time")
            shown[index] = pixels
        }
    }
}
