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

    @Test func whatIsLargerThanALibraryOrTheMemoryIsTooLarge() {
        for text in [
            "heif: Memory allocation error: Security limit exceeded: Image size 17000x17000",
            "tiff2vips: tile size out of range",
            "VipsImage: out of memory --- size == 103MB",
            "vips_tracked: out of memory --- size == 103MB",
            "png: Insufficient memory",
            "windowread: unable to mmap\nunix error: Cannot allocate memory",
        ] {
            #expect(VipsError.kind(of: text, otherwise: .corrupt) == .tooLarge)
        }
    }

    @Test func aKilledImageIsNeither() {
        #expect(
            VipsError.kind(of: "VipsImage: killed for image 0x1", otherwise: .corrupt) == .killed)
    }
}
