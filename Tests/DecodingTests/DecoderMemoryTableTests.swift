import ImageModel
import Messages
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
}
