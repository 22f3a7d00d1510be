import ImageModel
import JPEG
import StageContract

extension Encoder {
    /// A JPEG of the lane's planes, which are never joined.
    func encodeJPEG(_ lane: PlanarLane, to writer: BlockWriter<some OutputSpace>) throws {
        let size = lane.plan.size
        let encoding = JPEGEncoding(
            width: size.width, height: size.height, subsampling: subsampling(lane),
            quality: max(1, quality))
        let step = encoding.subsampling == .yuv420 ? 2 : 1
        let planes = try lane.planes(coloursEvery: PixelSize(width: step, height: step))
        let count = try withExtendedLifetime(planes) { () throws(JPEGError) in
            try JPEGPlaneEncoder.encode(
                planes.map { JPEGPlaneSource(memory: $0.bytes, stride: $0.stride) }, as: encoding,
                into: { writer.next($0) }, isCancelled: { cancellation.isCancelled })
        }
        writer.written(count)
    }

    /// Half of the colours suffices below quality 90, as libvips and others have it.
    private func subsampling(_ lane: PlanarLane) -> JPEGEncoding.Subsampling {
        if lane.isGrey { return .grey }
        return quality < 90 ? .yuv420 : .yuv444
    }
}
