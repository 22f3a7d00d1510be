import CodecSupport
import JPEG
import Model

extension TestImage {
    /// A JPEG of quality 95 whose chroma samples are the means of the pixels that they cover.
    func jpeg(
        _ subsampling: PlaneSubsampling, isProgressive: Bool = false
    ) throws -> [UInt8] {
        let encoding = JPEGEncoding(
            width: size.width, height: size.height, subsampling: subsampling, quality: 95,
            isProgressive: isProgressive)
        let planes = planes(subsampling)
        var pieces: [UnsafeMutableRawBufferPointer] = []
        defer { pieces.forEach { $0.deallocate() } }
        let sources = planes.indices.map { index in
            let copy = UnsafeMutableRawBufferPointer.allocate(
                byteCount: planes[index].count, alignment: 1)
            copy.copyBytes(from: planes[index])
            let columns = subsampling.size(ofPlane: index, size.width, size.height).width
            return SampleSource(memory: UnsafeRawBufferPointer(copy), stride: columns)
        }
        defer { sources.forEach { $0.memory.deallocate() } }
        let count = try JPEGPlaneEncoder.encode(sources, as: encoding) { minimum in
            pieces.append(.allocate(byteCount: max(minimum, 1 << 16), alignment: 1))
            return pieces.last
        } isCancelled: {
            false
        }
        return Array(pieces.joined().prefix(count))
    }

    private func planes(_ subsampling: PlaneSubsampling) -> [[UInt8]] {
        var sums = (0..<subsampling.planeCount).map { index in
            let plane = subsampling.size(ofPlane: index, size.width, size.height)
            return [(sum: Double, count: Double)](
                repeating: (0, 0), count: plane.width * plane.height)
        }
        let half = subsampling.size(
            ofPlane: subsampling.planeCount - 1, size.width, size.height)
        let across = half.width < size.width ? 2 : 1
        let down = half.height < size.height ? 2 : 1
        for y in 0..<size.height {
            for x in 0..<size.width {
                let colors = colors(x, y)
                sums[0][y * size.width + x] = (colors.luma, 1)
                guard subsampling.planeCount == 3 else { continue }
                let place = y / down * half.width + x / across
                for (plane, value) in [(1, colors.blue), (2, colors.red)] {
                    sums[plane][place].sum += value
                    sums[plane][place].count += 1
                }
            }
        }
        return sums.map { $0.map { UInt8(clamping: Int(($0.sum / $0.count).rounded())) } }
    }
}

extension PlaneSubsampling {
    static let all: [PlaneSubsampling] = [.yuv444, .yuv422, .yuv420, .yuv440, .gray]
}
