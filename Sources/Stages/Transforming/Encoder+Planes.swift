import ImageModel
import JPEG
import Messages
import StageContract

extension Encoder {
    /// Makes a JPEG of the lane's planes, without ever joining them.
    func encode(
        _ lane: PlanarLane, to output: some OutputSpace
    ) throws(ImageError) -> EncodedImage {
        let size = lane.plan.size
        try check(size)
        let encoding = JPEGEncoding(
            width: size.width, height: size.height, subsampling: subsampling(lane),
            quality: max(1, quality))
        let step = encoding.subsampling == .yuv420 ? 2 : 1
        let planes = try lane.planes(coloursEvery: PixelSize(width: step, height: step))
        let writer = try BlockWriter(output, estimate: size.width * size.height / 4)
        do {
            let count = try withExtendedLifetime(planes) { () throws(JPEGError) in
                try JPEGPlaneEncoder.encode(
                    planes.map { JPEGPlaneSource(memory: $0.bytes, stride: $0.stride) },
                    as: encoding, into: { writer.next($0) },
                    isCancelled: { lane.sampler.cancellation.isCancelled })
            }
            return EncodedImage(
                reference: writer.finish(count), info: ImageInfo(format: .jpeg, size: size))
        } catch {
            writer.discard()
            throw writer.failure ?? ImageError(transforming: error, step: "encode")
        }
    }

    /// Half of the colours suffices below quality 90, as libvips and others have it.
    private func subsampling(_ lane: PlanarLane) -> JPEGEncoding.Subsampling {
        if lane.isGrey { return .grey }
        return quality < 90 ? .yuv420 : .yuv444
    }
}
