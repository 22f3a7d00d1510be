/// SVG and PDF files that the tests write from the specifications.
public enum Drawings {
    /// The colors of the four quarters, row by row.
    public static let colors: [[UInt8]] = [
        [254, 0, 0], [0, 200, 0], [0, 0, 254], [250, 240, 0],
    ]

    /// An SVG whose root has `attributes` and contains `content`.
    public static func svg(_ attributes: String, _ content: String) -> [UInt8] {
        Array(
            """
            <svg xmlns="http://www.w3.org/2000/svg" \
            xmlns:xlink="http://www.w3.org/1999/xlink" \(attributes)>\(content)</svg>
            """.utf8)
    }

    /// An SVG with four colored quarters.
    public static func svgQuarters(width: Int = 24, height: Int = 24) -> [UInt8] {
        let rectangles = zip(colors, 0...).map { color, quarter in
            let (x, y) = (quarter % 2 * width / 2, quarter / 2 * height / 2)
            let values = color.map { "\($0)" }.joined(separator: ",")
            return "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width / 2)\" height=\"\(height / 2)\" "
                + "fill=\"rgb(\(values))\"/>"
        }
        return svg("width=\"\(width)\" height=\"\(height)\"", rectangles.joined())
    }

    /// A PDF with one page per content stream (ISO 32000-1, 7.5). Sizes are in points. `F1` is
    /// Helvetica, which isn't embedded in the file.
    public static func pdf(width: Double, height: Double, pages: [String]) -> [UInt8] {
        let kids = pages.indices.map { "\(4 + 2 * $0) 0 R" }.joined(separator: " ")
        var objects = [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[\(kids)]/Count \(pages.count)>>",
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
        for (index, page) in pages.enumerated() {
            objects.append(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 \(width) \(height)]"
                    + "/Contents \(5 + 2 * index) 0 R/Resources<</Font<</F1 3 0 R>>>>>>")
            objects.append("<</Length \(page.utf8.count)>>stream\n\(page)\nendstream")
        }
        return pdf(objects: objects)
    }

    /// A PDF with four colored quarters. Rows of a PDF count from the bottom.
    public static func pdfQuarters(width: Int = 24, height: Int = 24, pages: Int = 1) -> [UInt8] {
        let content = zip(colors, 0...).map { color, quarter in
            let values = color.map { "\(Double($0) / 255)" }.joined(separator: " ")
            let (x, y) = (quarter % 2 * width / 2, (1 - quarter / 2) * height / 2)
            return "\(values) rg \(x) \(y) \(width / 2) \(height / 2) re f"
        }
        let page = content.joined(separator: "\n")
        return pdf(
            width: Double(width), height: Double(height),
            pages: Array(repeating: page, count: pages))
    }

    /// A PDF of these objects, numbered from 1; the first one is its catalog.
    public static func pdf(objects: [String]) -> [UInt8] {
        var (text, offsets) = ("%PDF-1.4\n", [Int]())
        for (index, object) in objects.enumerated() {
            offsets.append(text.utf8.count)
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let table = text.utf8.count
        text += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
        for offset in offsets {
            let digits = "\(offset)"
            text += String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
        }
        text += "trailer<</Size \(objects.count + 1)/Root 1 0 R>>\nstartxref\n\(table)\n%%EOF\n"
        return Array(text.utf8)
    }
}
