import CodecSupport
import JPEG
import Model
import Testing

/// Encoding an AVIF from planes is equivalent to encoding it from pixels, for every chroma
/// subsampling.
@Suite struct AVIFLaneTests {
    @Test(
        arguments: [
            (ChromaSubsampling.auto, 89), (.auto, 95), (.yuv444, 80), (.yuv420, 95),
        ], [PlaneSubsampling.yuv420, .yuv444, .gray])
    func bothLanesGiveOneImage(
        output: (chroma: ChromaSubsampling, quality: Int), source: PlaneSubsampling
    ) throws {
        let lanes = try Samples.jpeg(333, 247, source)
        for side in [333, 101] {
            var job = Job.fit(side, as: .avif)
            job.output.quality = output.quality
            job.output.subsampling = output.chroma
            let (planar, general) = (try lanes.planar(job), try lanes.general(job))
            // Measured: 1.84 at most; libheif repeats chroma samples.
            #expect(try planar.difference(from: general) <= 2.2, "\(job)")
            // Before coding, by libvips alone; at least 29.8.
            let reference = try VipsWay.reference(lanes.bytes, job)
            let (near, usual) = (
                try planar.psnr(against: reference), try general.psnr(against: reference)
            )
            // Chroma interpolated between JPEG samples differs from libjpeg's.
            #expect(near >= 29 && near >= min(40, usual - 2.2), "\(job): \(near), \(usual)")
        }
    }
}
