import Model
import TestKit
import Testing
import WebGrammar

/// 500 random URLs created by libthumbor 2.0.2 with the key `thistledown`, each with the sizes of
/// thumbor 7.8.0's results for three images: `meta` for properties, `-` if it fails.
@Suite struct ThumborSizeTests {
    private struct Row {
        var path: String
        let sizes: [String]

        /// `no_upscale` depends on the whole source in thumbor, here on the scaled part (WEB 3.4).
        var differs: Bool {
            let parts = path.split(separator: "/")
            let isPart = parts.contains { $0.contains("x") && $0.contains(":") && $0.first != "f" }
            return path.contains("no_upscale") && (isPart || path.contains("full-fit-in"))
        }
    }

    private static let images = [PixelSize(400, 300), PixelSize(300, 500), PixelSize(60, 40)]

    /// A line with the signature and the sizes, then the lines of the path, which are indented.
    private static let rows = {
        let folder = RepositoryRoot.file("Tests/WebGrammarTests/Thumbor")
        let texts = ["signed1.txt", "signed2.txt"].map { FileBytes.text("\(folder)/\($0)") ?? "" }
        var rows: [Row] = []
        for line in texts.joined().split(separator: "\n") {
            if line.hasPrefix("  ") {
                rows[rows.count - 1].path += line.dropFirst(2)
            } else {
                let cells = line.split(separator: " ").map(String.init)
                rows.append(Row(path: "/\(cells[0])/", sizes: Array(cells.dropFirst())))
            }
        }
        return rows.map { Row(path: $0.path + "h.org/a.png", sizes: $0.sizes) }
    }()

    private func grammar() throws -> ThumborGrammar {
        var settings = ThumborGrammar.Settings()
        settings.keys = [SigningKey(key: Array("thistledown".utf8))].compactMap { $0 }
        return try ThumborGrammar(settings)
    }

    /// No corner pixel of the images equals its neighbors, so a trim doesn't change them.
    private func size(_ image: PixelSize, after steps: [TransformStep]) -> PixelSize? {
        steps.reduce(image) { size, step in size.flatMap { step.size(after: $0) } }
    }

    @Test func whatThumborMakesHasTheSameSizeHere() throws {
        let grammar = try grammar()
        var (count, refused, exact, different) = (0, [String: Int](), 0, 0)
        for row in Self.rows {
            let request: WebRequest
            do throws(GrammarError) {
                request = try grammar.read(row.path)
            } catch {
                #expect(error.status == 501, "\(row.path): \(error)")
                refused[error.option ?? "", default: 0] += 1
                continue
            }
            if row.differs {
                different += 1
                continue
            }
            for (image, wanted) in zip(Self.images, row.sizes) where wanted.contains("x") {
                let produced = try #require(size(image, after: request.image.steps))
                let theirs = try #require(PixelSize(wanted))
                let isNear =
                    abs(produced.width - theirs.width) <= 1
                    && abs(produced.height - theirs.height) <= 1
                #expect(isNear, "\(row.path) of \(image): \(produced), thumbor: \(theirs)")
                count += 1
                exact += produced == theirs ? 1 : 0
            }
            if row.sizes[0] == "meta" { #expect(request.kind == .properties) }
        }
        #expect(Self.rows.count == 500)
        // Differences: crops apply before a trim, a rotated box is filled, and properties aren't
        // those of the result.
        #expect(refused == ["trim": 10, "focal": 1, "fill": 10, "meta": 14])
        #expect(different == 8)
        // thumbor crops fractions of a pixel if its crop has a different ratio.
        #expect(count == 1_301 && exact >= 1_275)
    }
}
