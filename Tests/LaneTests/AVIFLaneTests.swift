import ImageModel
import JPEG
import Testing

/// The planes of an AVIF are those of its pixels, whatever samples of colour it has.
@Suite struct AVIFLaneTests {
    @Test(
        arguments: [
            (ChromaSubsampling.auto, 89), (.auto, 95), (.yuv444, 80), (.yuv420, 95),
        ], [JPEGEncoding.Subsampling.yuv420, .yuv444, .grey])
    func bothLanesGiveOneImage(
        output: (chroma: ChromaSubsampling, quality: Int), source: JPEGEncoding.Subsampling
    ) throws {
        let lanes = try Samples.jpeg(333, 247, source)
        for side in [333, 101] {
            var job = Job.fit(side, as: .avif)
            job.output.quality = output.quality
            job.output.subsampling = output.chroma
            let (planar, general) = (try lanes.planar(job), try lanes.general(job))
            // Measured: 0.9 at most.
            #expect(try planar.difference(from: general) <= 1.5, "\(job)")
            // Without the noise of coding, by libvips alone.
            let reference = try VipsWay.reference(lanes.bytes, job)
            #expect(try planar.psnr(against: reference) >= 30, "\(job)")
        }
    }
}
