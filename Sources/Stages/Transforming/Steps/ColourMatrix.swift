import ImageModel
import Vips

/// What of red, green and blue each colour becomes.
struct ColourMatrix {
    /// Of red, green and blue in brightness (BT.601), as in the first plane of a JPEG.
    static let light = [0.299, 0.587, 0.114]

    let rows: [[Double]]

    fileprivate func step(_ name: String) -> any ImageStep {
        WholeImage(name: name) { try $0.coloured().mixed(rows) }
    }
}

/// As the CSS filter has it.
extension SepiaStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let rows = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
        return [ColourMatrix(rows: rows).step(name)]
    }
}

/// Between grey of the same brightness and the image, or beyond it.
extension SaturationStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let share = 1 + number / 100
        let rows = (0..<3).map { row in
            (0..<3).map { (1 - share) * ColourMatrix.light[$0] + (row == $0 ? share : 0) }
        }
        return [ColourMatrix(rows: rows).step(name)]
    }
}
