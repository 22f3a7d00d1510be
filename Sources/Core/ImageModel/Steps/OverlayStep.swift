/// Another image laid over this one.
package struct OverlayStep: StepForm {
    package let overlay: Overlay

    package var name: String { "overlay" }

    package var key: String { overlay.key(named: overlay.url) }

    package var demand: StepDemand { .everything }

    package func scaled(by ratio: Double) -> TransformStep? {
        .overlay(
            Overlay(
                url: overlay.url, x: ImageModel.scaled(overlay.x, by: ratio),
                y: ImageModel.scaled(overlay.y, by: ratio), opacity: overlay.opacity))
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        let places = -RequestLimits.sideMax...RequestLimits.sideMax
        guard places.contains(overlay.x), places.contains(overlay.y) else {
            throw ImageError(
                .invalidRequest,
                "overlay: at most \(RequestLimits.sideMax) pixels from an edge")
        }
        guard (0...1).contains(overlay.opacity) else {
            throw ImageError(.invalidRequest, "overlay: the opacity is a number from 0 to 1")
        }
        guard let url = try? SourceURL(overlay.url), ["http", "https"].contains(url.scheme),
            url.userInfo == nil
        else {
            throw ImageError(
                .invalidRequest, "overlay: an http or https URL without user info is expected")
        }
    }

    static let syntax = StepSyntax(
        "overlay", value: "URL[,X,Y[,OPACITY]]",
        "lay another image over it, at X, Y from the left and top edge,\n"
            + "negative: from the right and bottom one (repeatable, 4);\n"
            + "a URL that ends in a comma and a number needs all three",
        expected: "URL[,X,Y[,OPACITY]] with an http or https URL and an opacity from 0 to 1, such "
            + "as http://host/mark.png,-10,-10,0.5; a URL that ends in a comma and a number needs "
            + "all three"
    ) { Overlay($0).map { .overlay($0) } }
}
