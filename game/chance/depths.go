package chance

// A depth is what a position of the fielders does to hits, as factors (estimates, such that each is the best in
// some situation and the worst in another).
type depth struct{ single, double, triple, onError float64 }

// applyDepths changes the class weights by the fielders' positions.
func (pa *plateAppearance) applyDepths(w *[classes]float64) {
	c := &pa.tactics.Defense
	apply := func(d depth) {
		w[single] *= d.single
		w[double] *= d.double
		w[triple] *= d.triple
		w[reachedOnError] *= d.onError
	}
	switch c.Infield {
	case InfieldIn:
		apply(depth{1.2, 1.03, 1, 1.1})
	case CornersIn:
		apply(depth{1.07, 1.06, 1, 1}) // balls past third and first
	case DoublePlayDepth:
		apply(depth{1.03, 1, 1, 1})
	default:
	}
	switch c.Outfield {
	case Shallow:
		apply(depth{.933, 1.31, 1.9, 1})
	case Deep:
		apply(depth{1.22, .785, .5, 1})
	default:
		apply(depth{1, 1.055, 1, 1})
	}
	if c.GuardLines {
		apply(depth{1.14, .77, .93, 1})
	}
}
