import CodecSupport
import JPEG
import Model

extension TestImage {
    /// A JPEG of quality 95 whose chroma samples are the means of the pixels that they cover.
    func jpeg(
        _ subsampling: JPEGEncoding.Subsampling, isProgressive: Bool = false
    ) throws -> [UInt8] {
        let encoding = JPEGEncoding(
            width: size.width, height: size.height, subsampling: subsampling, quality: 95,
            isProgressive: isProgressive)
        let planes = planes(encoding)
        var pieces: [UnsafeMutableRawBufferPointer] = []
        defer { pieces.forEach { $0.deallocate() } }
        let sources = planes.indices.map { index in
            let copy = UnsafeMutableRawBufferPointer.allocate(
                byteCount: planes[index].count, alignment: 1)
            copy.copyBytes(from: planes[index])
            return SampleSource(
                memory: UnsafeRawBufferPointer(copy), stride: encoding.size(ofPlane: index).width)
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

    private func planes(_ encoding: JPEGEncoding) -> [[UInt8]] {
        var sums = (0..<encoding.planeCount).map { index in
            let size = encoding.size(ofPlane: index)
            return [(sum: Double, count: Double)](
                repeating: (0, 0), count: size.width * size.height)
        }
        let half = encoding.size(ofPlane: encoding.planeCount - 1)
        let across = half.width < size.width ? 2 : 1
        let down = half.height < size.height ? 2 : 1
        for y in 0..<size.height {
            for x in 0..<size.width {
                let colors = colors(x, y)
                sums[0][y * size.width + x] = (colors.luma, 1)
                guard encoding.planeCount == 3 else { continue }
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

extension JPEGEncoding.Subsampling {
    static let all: [JPEGEncoding.Subsampling] = [.yuv444, .yuv422, .yuv420, .yuv440, .gray]
}
