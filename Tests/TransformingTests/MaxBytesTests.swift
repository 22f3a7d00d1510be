import Model
import Testing

/// Results limited to a number of bytes.
@Suite struct MaxBytesTests {
    /// From planes, from pixels, and from pixels with alpha.
    private static let ways: [Source] = [
        .planar(120, 90, blue: 100, red: 170) { x, y in
            (x * x / 50 + y * 2 + (x * 7_919 + y * 104_729) % 5) % 256
        },
        Source(120, 90, format: .jpeg) { x, y, band in
            (x * x / 50 + y * (band + 1) + (x * 7_919 + y * 104_729) % 5) % 256
        },
        Source(120, 90, .rgba) { x, y, band in
            band == 3 ? x * 2 : (x * x / 50 + y * (band + 1)) % 256
        },
    ]
    private static let formats = ImageFormat.encodable.filter {
        $0.traits.output?.hasLossyQuality(OutputOptions()) == true
    }

    private func bytes(
        _ source: Source, _ format: ImageFormat, quality: Int? = nil, atMost limit: Int? = nil
    ) throws -> [UInt8] {
        var output = OutputOptions(format: format, quality: quality)
        output.maxBytes = limit
        if format == .avif { output.effort = 0 }
        return try transform(source, [], output: output).bytes
    }

    @Test(arguments: formats)
    func noResultHasMoreBytesThanAsked(format: ImageFormat) throws {
        for source in Self.ways {
            let most = try bytes(source, format).count
            let least = try bytes(source, format, quality: 0).count
            try #require(least < most)
            for limit in [least, (least + most) / 2, most - 1] {
                let count = try bytes(source, format, atMost: limit).count
                #expect((1...limit).contains(count), "\(format)")
            }
        }
    }

    /// If the file fits, it is the same as without a limit.
    @Test(arguments: formats)
    func whatFitsIsEncodedAsItIsAsked(format: ImageFormat) throws {
        for source in Self.ways {
            let free = try bytes(source, format, quality: 70)
            #expect(try bytes(source, format, quality: 70, atMost: free.count) == free)
        }
    }

    /// The file has the best quality that fits, among every second one.
    @Test func theBestQualityThatFitsIsTaken() throws {
        for source in Self.ways {
            let files = try stride(from: 0, to: 80, by: 2).map {
                try bytes(source, .jpeg, quality: $0)
            }
            let counts = files.map(\.count)
            try #require(counts == counts.sorted(), "as many bytes as quality")
            for limit in [counts[3], counts[17] + 1, counts[39], counts[39] + 1] {
                let wanted = try #require(files.last { $0.count <= limit })
                #expect(try bytes(source, .jpeg, atMost: limit) == wanted, "\(limit)")
            }
        }
    }

    @Test(arguments: formats)
    func whatFitsAtNoQualityIsAsSmallAsItCanBe(format: ImageFormat) throws {
        for source in Self.ways {
            let least = try bytes(source, format, quality: 0)
            #expect(try bytes(source, format, atMost: 1).count <= least.count)
        }
    }

    @Test func whatLosesNothingHasNoOtherQuality() throws {
        let lossless = OutputOptions(format: .webp, lossless: true)
        for output in [OutputOptions(format: .png), OutputOptions(format: .gif), lossless] {
            let free = try transform(Self.ways[1], [], output: output).bytes
            var limited = output
            limited.maxBytes = 1
            #expect(try transform(Self.ways[1], [], output: limited).bytes == free)
        }
    }
}
