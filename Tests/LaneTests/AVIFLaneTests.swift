import ImageModel
import JPEG
import Testing

/// The planes of an AVIF are those of its pixels, whatever samples of color it has.
@Suite struct AVIFLaneTests {
    @Test(
        arguments: [
            (ChromaSubsampling.auto, 89), (.auto, 95), (.yuv444, 80), (.yuv420, 95),
        ], [JPEGEncoding.Subsampling.yuv420, .yuv444, .gray])
    func bothLanesGiveOneImage(
        output: (chroma: ChromaSubsampling, quality: Int), source: JPEGEncoding.Subsampling
    ) throws {
        let lanes = try Samples.jpeg(333, 247, source)
        for side in [333, 101] {
            var job = Job.fit(side, as: .avif)
            job.output.quality = output.quality
            job.output.subsampling = output.chroma
            let (planar, general) = (try lanes.planar(job), try lanes.general(job))
            // Measured: 1.84 at most; libheif doubles samples of colors as they are.
            #expect(try planar.difference(from: general) <= 2.2, "\(job)")
            // Without the noise of coding, by libvips alone; 29.8 at least.
            let reference = try VipsWay.reference(lanes.bytes, job)
            let (near, usual) = (
                try planar.psnr(against: reference), try general.psnr(against: reference)
            )
            // Colors between those of the JPEG are not the ones that libjpeg makes.
            #expect(near >= 29 && near >= min(40, usual - 2.2), "\(job): \(near), \(usual)")
        }
    }
}
