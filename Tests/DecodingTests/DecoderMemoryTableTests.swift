import Model
import TestKit
import Testing

/// Decoder memory as stated in SECURITY.md, the systemd units and docker/compose.yaml.
@Suite struct DecoderMemoryTableTests {
    @Test func theTableHasTheRowsOfTheFormats() throws {
        let text = try #require(FileBytes.text(RepositoryRoot.file("SECURITY.md")))
        let stated = text.split(separator: "\n").map(String.init).filter {
            $0.contains(#/^\| [a-z]+, [a-z]+ \| [0-9]/#)
        }
        let rows = FormatTraits.rows.filter { $0.input?.family == .raster }
            .sorted { $0.name < $1.name }.flatMap(Self.lines)
        #expect(stated == rows)
    }

    private static func lines(of traits: FormatTraits) -> [String] {
        guard let memory = traits.input?.memory else { return [] }
        let codings: [(String, DecoderMemory?)] = [
            ("streamed", memory.streamed), ("whole", memory.whole), ("layered", memory.layered),
        ]
        return codings.compactMap { name, row in
            guard let row else { return nil }
            let parts = [
                row.perPixel > 0 ? "\(row.perPixel)" : nil,
                row.perChannel > 0 ? "\(row.perChannel) per channel" : nil,
                row.copies > 0 ? "\(row.copies) per sample byte" : nil,
            ].compactMap { $0 }
            let each = row.bytes(pixels: 1, channels: 3, sampleBytes: 1)
            let most = each == 0 ? "no limit" : "\(ImageLimits.decoderBytesMax / each / 1_000_000)"
            let formula = parts.isEmpty ? "0" : parts.joined(separator: " + ")
            return "| \(traits.name), \(name) | \(formula) | \(each) | \(most) |"
        }
    }

    @Test(arguments: [WorkerKind.decode, .transform])
    func unitsAndComposeHaveRoomForTheLimitOfAProcess(_ kind: WorkerKind) throws {
        let wanted = try #require(ImageLimits.groupBytes(kind))
        let unit = try #require(
            FileBytes.text(RepositoryRoot.file("systemd/imagebus-\(kind.name)@.service")))
        let compose = try #require(FileBytes.text(RepositoryRoot.file("docker/compose.yaml")))
        let ofUnit = try #require(unit.firstMatch(of: /\nMemoryMax=([0-9]+)M\n/))
        let name = "IMAGEBUS_\(kind.name.uppercased())_MEMORY:-"
        let ofCompose = try #require(compose.split(separator: name).dropFirst().first)
        for text in [ofUnit.output.1, ofCompose.prefix { $0.isNumber }] {
            let mebibytes = try #require(UInt64(text))
            #expect(mebibytes << 20 >= wanted)
        }
    }

    /// Applies to formats decoded row by row; the table lists the others.
    @Test func theUsualPixelLimitIsWithinTheMemoryOfStreamedFormats() {
        for traits in FormatTraits.rows where traits.input?.family == .raster {
            guard let row = traits.input?.memory.streamed, traits.format != .webp else { continue }
            let bytes = row.bytes(
                pixels: ImageLimits().pixelsMax, channels: 3, sampleBytes: 1)
            #expect(bytes <= ImageLimits.decoderBytesMax, "\(traits.name)")
        }
    }

    /// What a process writes to shared memory counts towards the limit of its control group.
    @Test(arguments: [(WorkerKind.decode, "PIXELS"), (WorkerKind.transform, "ENCODED")])
    func aGroupHasSpaceForTheProcessAndItsOutput(_ kind: WorkerKind, _ output: String) throws {
        let volume = try Self.mebibytes("IMAGEBUS_\(output)_SIZE")
        #expect(ImageLimits.groupBytes(kind) == ImageLimits.processBytesMax + volume << 20)
        let readme = try #require(FileBytes.text(RepositoryRoot.file("docker/README.md")))
        for name in ["IMAGEBUS_\(output)_SIZE", "IMAGEBUS_\(kind.name.uppercased())_MEMORY"] {
            let value = try Self.mebibytes(name)
            let row = "`\(name)` | \(value)m |"
            #expect(readme.contains(row), "docker/README.md has another \(name)")
        }
    }

    /// The default of a variable in docker/compose.yaml, which is in MiB there.
    private static func mebibytes(_ variable: String) throws -> UInt64 {
        let compose = try #require(FileBytes.text(RepositoryRoot.file("docker/compose.yaml")))
        let value = try #require(compose.split(separator: "{\(variable):-").dropFirst().first)
        let digits = value.prefix { $0.isNumber }
        try #require(value.dropFirst(digits.count).first == "m")
        return try #require(UInt64(digits))
    }

    /// The last column of the table is the largest image, in megapixels, that the memory is enough
    /// for.
    @Test func theDefaultPixelLimitIsThatOfTheDocuments() throws {
        let megapixels = ImageLimits().pixelsMax / 1_000_000
        let text = try #require(FileBytes.text(RepositoryRoot.file("SECURITY.md")))
        let sentences = text.replacing("\n", with: " ")
        #expect(sentences.contains("A decoder has 1,280 MiB, of which 1 GiB may be used"))
        #expect(ImageLimits.processBytesMax == 1_280 << 20)
        #expect(ImageLimits.decoderBytesMax == 1 << 30)
        let usual = "except WebP decode \(megapixels) megapixels, the default `--pixel-limit`."
        #expect(sentences.contains(usual))
        let streamed = text.split(separator: "\n").filter {
            $0.contains(#/^\| [a-z]+, streamed /#) && !$0.hasPrefix("| webp")
        }
        #expect(streamed.count > 5)
        for row in streamed where !row.hasSuffix(" no limit |") {
            let cells = row.split { $0 == " " || $0 == "|" }
            let most = try #require(cells.last.flatMap { Int($0) })
            #expect(most >= megapixels, "\(row)")
        }
        let readme = try #require(FileBytes.text(RepositoryRoot.file("docker/README.md")))
        #expect(readme.contains("`IMAGEBUS_PIXEL_LIMIT`, `IMAGEBUS_SIDE_LIMIT` | \(megapixels)M, "))
    }
}
