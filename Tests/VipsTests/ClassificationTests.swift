import Testing

@testable import Vips

/// The classification of errors, based on libvips' messages.
@Suite struct ClassificationTests {
    init() throws { _ = try VipsLibrary() }

    @Test(arguments: [
        "VipsImage: unable to write to \"/tmp/vips-0-234.v\"\nunix error: Permission denied",
        "unix error: Operation not supported", "VipsSequential: out of order read at 7",
        "VipsImage: unable to output to a readonly image",
    ])
    func whatNoDecoderSaysIsNoFaultOfTheBytes(text: String) {
        #expect(VipsError.kind(of: text, otherwise: .corrupt) == .internal)
    }

    @Test(arguments: [
        "VipsJpeg: Premature end of input file", "webp2vips: unable to read pixels",
        "webp: unable to parse image", "gifload_buffer: Invalid frame data",
        "vipspng: libpng read error", "IDAT: CRC error\nvipspng: libpng read error", "",
    ])
    func whatADecoderSaysIsOfTheBytes(text: String) {
        #expect(VipsError.kind(of: text, otherwise: .corrupt) == .corrupt)
    }

    /// libvips 8.14 reports this for valid files.
    @Test(arguments: [
        "tiff2vips: samples_per_pixel not a whole number of bytes",
        "jxlload_buffer: error JxlDecoderImageOutBufferSize",
    ])
    func whatADecoderLacksIsUnsupported(text: String) {
        #expect(VipsError.kind(of: text, otherwise: .corrupt) == .unsupported)
    }

    /// Each loader contributes its identifying strings, such as the prefix of its functions.
    @Test func aLoaderThatIsPermittedLaterIsHeardAsWell() throws {
        let text = "source: bad seek to 9\nArgusReadTable: no table"
        #expect(VipsError.kind(of: text, otherwise: .corrupt) == .internal)
        _ = try VipsLibrary(loaders: [VipsLoader("rawload", voices: ["Argus"])])
        #expect(VipsError.kind(of: text, otherwise: .corrupt) == .corrupt)
    }

    @Test(arguments: [
        "heif: Memory allocation error: Security limit exceeded: Image size 17000x17000",
        "tiff2vips: tile size out of range",
    ])
    func whatIsLargerThanALibraryIsTooLarge(text: String) {
        #expect(VipsError.kind(of: text, otherwise: .corrupt) == .tooLarge)
    }

    /// Whether it is needed to read a file, or to write one.
    @Test(arguments: [
        // libvips.
        "VipsImage: out of memory --- size == 103MB",
        "vips_tracked: out of memory --- size == 103MB",
        "windowread: unable to mmap\nunix error: Cannot allocate memory",
        "vips: unable to malloc", "webp: picture memory error", "gifload: Out of memory",
        // libtiff, and the decoders within it.
        """
        source input: Failed to allocate memory for StripOffsets (8 elements of 8 bytes each)
        tiff2vips: unable to set directory
        """,
        "TIFFReadDirectory: Out of memory reading of \"ColorMap\"",
        "TIFFOpenOptions: Memory allocation of 9 bytes is beyond the 8 byte limit",
        "LZWSetupDecode: No space for LZW code table",
        "LZMADecode: memory usage limit was reached",
        "TIFFFillStripPartial: No space to expand strip arrays",
        "JPEGLib: Insufficient memory (case 4)",
        "WebPSetupDecode: Unable to allocate WebP decoder.",
        "tiff2vips: Cannot decode tile, memory error", "jp2kload: Not enough memory to decode tile",
        // libjpeg, libpng, libheif, libde265, LittleCMS and poppler.
        "VipsJpeg: Insufficient memory (case 4)", "png: Insufficient memory",
        "vipspng: Row has too many bytes to allocate in memory",
        "heif: Memory allocation error: Unspecified: Cannot allocate image memory. (6.0)",
        "heif: Decoder plugin generated an error: Unspecified: out of memory (7.0)",
        "VipsIcc: Couldn't allocate 9000 bytes for profile", "glib: Out of memory",
    ])
    func whatLacksMemoryIsTooLarge(text: String) {
        for kind in [VipsError.Kind.corrupt, .internal] {
            #expect(VipsError.kind(of: text, otherwise: kind) == .tooLarge)
        }
    }

    /// No memory would be enough.
    @Test(arguments: [
        "source input: Integer overflow in StripOffsets",
        "source input: Invalid argument to _TIFFMultiplySSize() in StripOffsets",
    ])
    func aCountThatCannotBeAllocatedIsDamage(text: String) {
        let more = "source input: Failed to allocate memory for StripOffsets"
        #expect(VipsError.kind(of: "\(text)\n\(more)", otherwise: .corrupt) == .corrupt)
    }

    @Test func aKilledImageIsNeither() {
        #expect(
            VipsError.kind(of: "VipsImage: killed for image 0x1", otherwise: .corrupt) == .killed)
    }
}
