import ImageModel
import Vips

extension ImageFormat {
    /// What is written of samples: as many bits as are asked for; of a high dynamic range as many
    /// as there are, as far as the format has them.
    func samples(of samples: SampleForm, _ options: OutputOptions) -> SampleForm {
        let wanted = options.depth ?? (samples.hdr == nil ? 8 : samples.bits)
        let bits = traits.output?.depth(for: options.colours == nil ? wanted : 8) ?? 8
        return SampleForm(bits: bits, hdr: samples.hdr)
    }
}

extension VipsImage {
    /// The same in samples of as many bytes.
    func with(_ samples: SampleForm) throws(VipsError) -> VipsImage {
        switch (header.bytesPerBand, samples.bytes) {
        case (1, 2): try widened(whole: 255)
        case (2, 1): try narrowed()
        default: self
        }
    }
}
