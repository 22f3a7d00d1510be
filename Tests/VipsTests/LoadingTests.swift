import Testing
import Vips

@Suite struct LoadingTests {
    @Test func jpegShrinksWhileItDecodesToWholeColumns() throws {
        try withVips {
            let bytes = try Pixels.gradient(273, 222).image().encoded(.jpeg(quality: 90))
            try bytes.withUnsafeBytes { bytes in
                for shrink in [1, 2, 4, 8] {
                    let image = try VipsImage.jpeg(bytes, shrink: shrink)
                    #expect(image.width == 273 / shrink)
                    #expect(image.height == 222 / shrink)
                }
            }
        }
    }

    @Test func webPScalesWhileItDecodes() throws {
        try withVips {
            let bytes = try Pixels.gradient(200, 100).image().encoded(.webp(quality: 90))
            try bytes.withUnsafeBytes { bytes in
                let image = try VipsImage.webp(bytes, scale: 0.25)
                #expect(image.width == 50)
                #expect(image.height == 25)
                #expect(try image.samples().count == 50 * 25 * 3)
            }
        }
    }

    @Test func gifGivesItsFirstFrameAndTheNumberOfFrames() throws {
        try withVips {
            try twoFrameGIF.withUnsafeBytes { bytes in
                let image = try VipsImage.gif(bytes)
                #expect(image.header.pages == 2)
                #expect(image.width == 2)
                #expect(image.height == 1)
                #expect(try image.convertedToSRGB().samples().prefix(3) == [255, 0, 0])
            }
        }
    }

    /// 108 MB of pixels; by default, libvips keeps more than 100 MB in a file.
    @Test(arguments: [
        VipsEncoding.webp(quality: 0, lossless: true, effort: 0),
        .png(compression: 1, interlaced: true), .jpeg(quality: 80, progressive: true),
    ])
    func pixelsStayInMemoryHoweverManyThereAre(encoding: VipsEncoding) throws {
        let library = try VipsLibrary()
        try withVips {
            let (looks, finds) = (Counter(), Counter())
            // Corners of four colors.
            let small = try Pixels.gradient(2, 2).image()
            let bytes = try small.extended(left: 2999, top: 2999, width: 6000, height: 6000)
                .encoded(encoding)
            try bytes.withUnsafeBytes { bytes in
                let image = try Self.load(bytes)
                image.watch {
                    looks.add()
                    if library.pixelFilesInUse > 0 { finds.add() }
                    return false
                }
                let part = try image.extracted(left: 0, top: 0, width: 6000, height: 3010)
                #expect(try part.samples().count == 3 * 6000 * 3010)
            }
            #expect(looks.value > 0)
            #expect(finds.value == 0)
        }
    }

    private static func load(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        switch bytes.first {
        case 0xFF: try .jpeg(bytes)
        case 0x89: try .png(bytes)
        default: try .webp(bytes)
        }
    }

    @Test(arguments: Loader.allCases)
    func bytesThatAreNoImageAreCorrupt(loader: Loader) throws {
        try withVips {
            for bytes in [[], [0xFF], [UInt8](repeating: 0x41, count: 4096)] {
                let error = bytes.withUnsafeBytes { bytes in
                    #expect(throws: VipsError.self) { try loader.load(bytes) }
                }
                #expect(error?.kind == .corrupt, "\(String(describing: error))")
            }
        }
    }

    @Test(arguments: [Loader.jpeg, .png, .webp])
    func anImageThatEndsEarlyIsCorruptWhenItsPixelsAreComputed(loader: Loader) throws {
        try withVips {
            let whole = try Pixels(300, 300) { x, y, band in (x * y * (band + 3)) % 251 }
                .image().encoded(loader.encoding)
            let cut = Array(whole.prefix(whole.count / 2))
            let error = cut.withUnsafeBytes { bytes in
                #expect(throws: VipsError.self) { try loader.load(bytes).samples() }
            }
            #expect(error?.kind == .corrupt, "\(String(describing: error))")
            #expect(error?.text.isEmpty == false)
        }
    }

    @Test func aLoaderThatThisLibraryLacksIsNotPermitted() {
        let error = #expect(throws: VipsError.self) {
            try VipsLibrary(loaders: [VipsLoader("noload_buffer")])
        }
        #expect(error?.kind == .internal)
        #expect(error?.operation == "noload_buffer")
    }

    @Test func theTextOfAnErrorDoesNotComeAgain() throws {
        try withVips {
            let first = [UInt8](repeating: 0x41, count: 64).withUnsafeBytes { bytes in
                #expect(throws: VipsError.self) { try VipsImage.gif(bytes) }
            }
            let second = [UInt8](repeating: 0x41, count: 64).withUnsafeBytes { bytes in
                #expect(throws: VipsError.self) { try VipsImage.jpeg(bytes) }
            }
            #expect(first?.text.isEmpty == false)
            #expect(second?.text.contains(first?.text ?? "") == false)
        }
    }
}

/// The loaders of the binding, with an encoder for tests if there is one.
enum Loader: CaseIterable {
    case jpeg, png, webp, gif

    func load(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        switch self {
        case .jpeg: try VipsImage.jpeg(bytes)
        case .png: try VipsImage.png(bytes)
        case .webp: try VipsImage.webp(bytes)
        case .gif: try VipsImage.gif(bytes)
        }
    }

    var encoding: VipsEncoding {
        switch self {
        case .jpeg: .jpeg(quality: 90)
        case .png, .gif: .png(compression: 6)
        case .webp: .webp(quality: 90)
        }
    }
}

/// 2 × 1 pixels, red and blue, then blue and red.
let twoFrameGIF: [UInt8] =
    Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
    + [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0]
    + [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x0C, 0x0A, 0]
    + [0x3B]
