/// The part of an image that is picture, in fractions of a pixel from its top left corner.
struct ActiveRegion: Equatable {
    var left = 0.0
    var top = 0.0
    var width: Double
    var height: Double
}
